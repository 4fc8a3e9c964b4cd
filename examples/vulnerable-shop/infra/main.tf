resource "aws_security_group" "shop" {
  name        = "shop"
  description = "The shop's web server"

  ingress {
    description = "Maintenance"
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}
