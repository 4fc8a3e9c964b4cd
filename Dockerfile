# AppSecGate with its four scanners, all of it in the image: at run time it needs no network and writes /data alone.
FROM python:3.12-slim-bookworm

# The project is asked for its changes with git.
RUN apt-get update \
 && apt-get install -y --no-install-recommends git \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --create-home --home-dir /home/appsecgate appsecgate \
 && install -d -o appsecgate -g appsecgate -m 0700 /data

WORKDIR /opt/appsecgate
COPY appsecgate.py LICENSE ./

# The scanners live in the image, not in the volume: a new image brings new scanners, the volume keeps the ledger.
# The links have no version in their names, so that the pins stay in one place.
RUN python appsecgate.py setup --data-dir /opt/appsecgate \
 && mkdir bin \
 && for name in semgrep detect-secrets pip-audit checkov; do \
      ln -s "$(echo /opt/appsecgate/scanners/"$name"-[0-9]*)/bin/$name" "bin/$name" || exit 1; \
    done \
 && chmod -R a+rX /opt/appsecgate

ENV APPSECGATE_DATA_DIR=/data \
    APPSECGATE_SCANNERS_SEMGREP_COMMAND=/opt/appsecgate/bin/semgrep \
    APPSECGATE_SCANNERS_DETECT_SECRETS_COMMAND=/opt/appsecgate/bin/detect-secrets \
    APPSECGATE_SCANNERS_PIP_AUDIT_COMMAND=/opt/appsecgate/bin/pip-audit \
    APPSECGATE_SCANNERS_CHECKOV_COMMAND=/opt/appsecgate/bin/checkov \
    PYTHONDONTWRITEBYTECODE=1

USER appsecgate
VOLUME /data
ENTRYPOINT ["python", "/opt/appsecgate/appsecgate.py"]
