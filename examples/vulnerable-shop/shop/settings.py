"""Where the shop keeps its pictures and its orders. The keys are the examples of AWS's own documentation."""

PICTURE_BUCKET = "shop-pictures"
AWS_ACCESS_KEY_ID = "AKIAIOSFODNN7EXAMPLE"
AWS_SECRET_ACCESS_KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"

ORDERS_URL = "postgresql://shop:correct-horse-battery@db.internal:5432/orders"
