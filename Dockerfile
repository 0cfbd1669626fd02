# The stack in one container: https and http on 4566 (and 443 and 80), health command, no root.
#
# Build arguments:
#   NODE_IMAGE  base of the image; any with Node >= 22.22
#   GO_IMAGE    where ecr-credential-provider is compiled
#   PLUGIN      source    compile the version that e2e/ecr-credential-provider/go.mod names (the default)
#               prebuilt  take e2e/ecr-credential-provider/bin/ecr-credential-provider from the build context
#               none      leave it out; the built-in plugin is there all the same
ARG NODE_IMAGE=node:24-bookworm-slim
ARG GO_IMAGE=golang:1.26-bookworm

FROM ${GO_IMAGE} AS ecr-credential-provider
ARG PLUGIN=source
WORKDIR /src
COPY e2e/ecr-credential-provider/ ./
RUN set -eu; mkdir -p /out; \
    case "$PLUGIN" in \
      source) CGO_ENABLED=0 GOTOOLCHAIN=local GOFLAGS=-mod=readonly go build -trimpath -ldflags "-s -w" \
                -o /out/ecr-credential-provider k8s.io/cloud-provider-aws/cmd/ecr-credential-provider ;; \
      prebuilt) if [ ! -f bin/ecr-credential-provider ]; then \
                  echo "PLUGIN=prebuilt: expected e2e/ecr-credential-provider/bin/ecr-credential-provider in the build context" >&2; exit 2; \
                fi; cp bin/ecr-credential-provider /out/; chmod 755 /out/ecr-credential-provider ;; \
      none) ;; \
      *) echo "PLUGIN: expected source, prebuilt or none, found \"$PLUGIN\"" >&2; exit 2 ;; \
    esac

FROM ${NODE_IMAGE} AS build
WORKDIR /src
# First of all, so that a wrong base image is named as such and not as a failed install.
COPY e2e/docker/check-base.cjs ./
RUN node check-base.cjs
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build -- --without-types

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="pullproof" \
      org.opencontainers.image.licenses="Apache-2.0" \
      dev.pullproof.image="1"
COPY --from=build /src/package.json /src/LICENSE /opt/pullproof/
COPY --from=build /src/dist /opt/pullproof/dist
COPY --from=ecr-credential-provider /out/ /opt/pullproof/plugins/
RUN ln -s /opt/pullproof/dist/cli/bin.cjs /usr/local/bin/pullproof \
 && mkdir -p /var/lib/pullproof /etc/pullproof \
 && chown 1000:1000 /var/lib/pullproof
ENV HOME=/var/lib/pullproof \
    XDG_CACHE_HOME=/var/lib/pullproof/cache \
    PULLPROOF_HOST=0.0.0.0 \
    PULLPROOF_PORT=4566 \
    PULLPROOF_MORE_PORTS=443,80 \
    PULLPROOF_DATA_DIR=/var/lib/pullproof \
    PULLPROOF_CONFIG=/etc/pullproof
USER 1000:1000
WORKDIR /var/lib/pullproof
VOLUME /var/lib/pullproof
EXPOSE 4566 443 80
HEALTHCHECK --interval=2s --timeout=5s --start-period=20s --retries=3 CMD ["pullproof", "health"]
ENTRYPOINT ["pullproof"]
CMD ["up"]
