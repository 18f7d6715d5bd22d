# Node's long-term support. Tags, so that a build has the fixes of its day. A tag moves: where a build must be repeatable, name the
# digest too, without a change of this file. Look it up, then name it, here or as NODE_IMAGE in .env:
#   docker buildx imagetools inspect node:24-bookworm-slim --format '{{.Manifest.Digest}}'
#   docker build --build-arg NODE=node:24-bookworm-slim@sha256:… .
ARG NODE=node:24-bookworm-slim

# Packages that run, and nothing that only builds. None is compiled.
FROM ${NODE} AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM ${NODE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY scripts scripts
# Shown with the version: docker build --build-arg COMMIT="$(git rev-parse HEAD)" .
ARG COMMIT=
RUN npm run build

FROM ${NODE} AS gateway
ENV NODE_ENV=production ROUSE_HOST=0.0.0.0 ROUSE_DATA_DIR=/data
# Memory of large messages is used again rather than returned to the system (docs/operations.md, "Memory").
ENV MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=134217728
WORKDIR /app
# The only place that is written to.
RUN install -d -o node -g node -m 700 /data
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE openapi.json ./
COPY drizzle drizzle
COPY page page
COPY examples examples
USER node
VOLUME /data
EXPOSE 4520 4521
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["node", "dist/main.js", "health"]
ENTRYPOINT ["node", "dist/main.js"]
CMD ["serve"]
