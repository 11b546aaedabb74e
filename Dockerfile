# The command as one static file, run by a user who is not root:
#
#   docker build -t rpcgraph .
#   docker run --rm --volume "$PWD:/work:ro" rpcgraph session.ndjson
FROM rust:1.95-bookworm AS build
RUN apt-get update && \
    apt-get install --yes --no-install-recommends ca-certificates musl-tools && \
    rustup target add "$(uname -m)-unknown-linux-musl"
WORKDIR /build
COPY . .
# `dev` builds faster, to try the container.
ARG PROFILE=release
# RocksDB is left out: it needs a C++ compiler for musl.
RUN cargo build --locked --profile "$PROFILE" --features shacl --target "$(uname -m)-unknown-linux-musl" && \
    mkdir --mode=1777 --parents image/tmp && \
    mv target/*-unknown-linux-musl/*/rpcgraph image/

FROM scratch
# Servers are known by their certificates, and contexts and tables need a folder for temporary files.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /build/image /
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["/rpcgraph"]
