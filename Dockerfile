# The operator's image and the pipeline's. docker, podman and buildah build them alike:
#   docker build -t slackwater/operator:dev .
#   docker build -t slackwater/pipeline:dev --target pipeline .
# A release is built with the digest of that image: --build-arg PYTHON=python@sha256:…
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

FROM ${PYTHON} AS java
# The Java package's manual pages are linked into a folder that slim images do not have. Its version is the newest of the
# distribution's release: a pinned one would soon be gone from its archive. Hadoop, within Spark, asks for the user's name.
# hadolint ignore=DL3008
RUN mkdir -p /usr/share/man/man1 \
 && apt-get update \
 && apt-get install -y --no-install-recommends openjdk-17-jre-headless \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /usr/share/doc /usr/share/man \
 && echo slackwater:x:65532:65532::/tmp:/usr/sbin/nologin >> /etc/passwd

FROM java AS spark
ARG PIP_NO_INDEX
ARG PIP_FIND_LINKS
ENV PATH=/opt/slackwater/bin:/usr/local/bin:/usr/bin:/bin
COPY --from=dependencies /opt /opt
COPY requirements/pipeline.txt requirements/jars.sha256 /src/requirements/
# pyspark comes as source only, which is built with the locked tools.
RUN /opt/pip/bin/pip wheel --no-cache-dir --no-deps --no-build-isolation --require-hashes --wheel-dir /tmp/wheels \
      -r /src/requirements/pipeline.txt \
 && /opt/pip/bin/pip --python /opt/slackwater/bin/python3 install --no-cache-dir --no-deps --no-index /tmp/wheels/*.whl \
 && rm -rf /tmp/wheels
COPY operator/slackwater/pipeline/packages.py /src/
# Spark fetches its connector for Kafka here, so that it need not when it runs; from ~/.m2/repository where that has it.
# What Spark brings itself stays as it is. Not every builder gives its own name an address. Each jar is the one that it was
# when its hash was written down, and there is none besides.
RUN touch /tmp/nothing.py \
 && connector="$(PYTHONPATH=/src python3 -c 'import packages; print(packages.KAFKA_CONNECTOR)')" \
 && SPARK_LOCAL_HOSTNAME=localhost spark-submit --packages "$connector" --conf spark.jars.ivy=/tmp/ivy /tmp/nothing.py \
 && env --chdir=/tmp/ivy/jars LC_ALL=C sh -c 'sha256sum *.jar' >/tmp/jars.sha256 \
 && diff /src/requirements/jars.sha256 /tmp/jars.sha256 \
 && home="$(python3 -c 'import pyspark; print(pyspark.__path__[0])')" \
 && for jar in /tmp/ivy/jars/*.jar; do \
      test -e "$home/jars/${jar#*_}" || mv "$jar" "$home/jars/${jar#*_}" || exit 1; \
    done

FROM java AS pipeline
# The file system may be read-only but for /tmp, the home and the working directory, which Spark writes to.
ENV PATH=/opt/slackwater/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
ENTRYPOINT ["slackwater"]
COPY --from=spark /opt/slackwater /opt/slackwater
COPY --from=package /opt/package /opt/slackwater

# The last one, which is built where none is named.
FROM ${PYTHON} AS operator
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
