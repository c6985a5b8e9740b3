# The operator's image. docker, podman and buildah build it alike:  docker build -t slackwater/operator:dev .
ARG PYTHON=python:3.11-slim-bookworm

FROM ${PYTHON} AS dependencies
# Where pip finds packages is the builder's business; the sandbox passes a folder of wheels, see sandbox/images.
ARG PIP_NO_INDEX
ARG PIP_FIND_LINKS
# pip stands outside the environment that it fills, so that it is no part of the image.
RUN python3 -m venv --without-pip /opt/slackwater \
 && python3 -m venv /opt/pip
COPY requirements/operator.txt requirements/build.txt /src/requirements/
RUN /opt/pip/bin/pip --python /opt/slackwater/bin/python3 install --no-cache-dir --require-hashes \
      -r /src/requirements/operator.txt \
 && /opt/pip/bin/pip install --no-cache-dir --require-hashes -r /src/requirements/build.txt

# Apart from what it depends on, so that a change of the operator makes one small new layer.
FROM dependencies AS package
COPY pyproject.toml README.md LICENSE /src/
COPY operator /src/operator
RUN /opt/pip/bin/pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /tmp/wheel /src \
 && /opt/pip/bin/pip --python /opt/slackwater/bin/python3 install --no-cache-dir --no-deps --no-index \
      --prefix /opt/package /tmp/wheel/*.whl

FROM ${PYTHON}
# The file system may be read-only: nothing is written at run time, byte code included. kopf asks for the user's name,
# and the number below stands in no list of users.
ENV PATH=/opt/slackwater/bin:/usr/local/bin:/usr/bin:/bin \
    USER=slackwater \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
ENTRYPOINT ["slackwater"]
COPY --from=dependencies /opt/slackwater /opt/slackwater
COPY --from=package /opt/package /opt/slackwater
