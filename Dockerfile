# The service in one image: web server, workers and commands differ by what is run.
FROM python:3.11-slim-bookworm AS build
RUN python -m venv /opt/venv
COPY requirements.txt .
RUN /opt/venv/bin/pip install --no-cache-dir --disable-pip-version-check -r requirements.txt

FROM python:3.11-slim-bookworm
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/*
# The data folder is made here so that a volume mounted below it belongs to the user.
RUN useradd --system --uid 10001 --home-dir /var/lib/debt debt \
    && install --directory --owner debt --mode 0700 /var/lib/debt /var/lib/debt/workspace
WORKDIR /srv/debt
COPY --from=build /opt/venv /opt/venv
COPY . .
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    VAR_DIR=/var/lib/debt \
    STATIC_ROOT=/srv/static \
    WEB_HOST=0.0.0.0
RUN SECRET_KEY=not-used VAR_DIR=/tmp/build python manage.py collectstatic --noinput -v 0 \
    && rm -rf /tmp/build \
    && python -m compileall -q .
USER debt
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health/live', timeout=2)"]
CMD ["python", "manage.py", "serve", "--only", "web"]
