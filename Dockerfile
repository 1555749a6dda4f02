# An image that audits endpoints: docker build -t darkcurrent . && docker run --rm -v "$PWD:/work" darkcurrent --help
FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE CITATION.cff CHANGELOG.md ./
COPY src src
RUN pip wheel --no-cache-dir --wheel-dir /wheels .

FROM python:3.13-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --no-index /wheels/*.whl \
    && rm -rf /wheels \
    && useradd --create-home --uid 1000 audit
USER 1000
WORKDIR /work
ENTRYPOINT ["darkcurrent"]
CMD ["--help"]
