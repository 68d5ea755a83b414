# The node as an image: one image for every role. Built in one stage, run in another without compilers and sources.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY scripts/pages/package.json ./scripts/pages/
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY src ./src
COPY streams ./streams
# What only builds goes; the client for a store in a bucket, which the package leaves to its users, stays.
RUN npm run build && npm pkg delete workspaces && npm install --omit=dev --save-prod --save-exact \
  "@aws-sdk/client-s3@$(npm pkg get 'devDependencies[@aws-sdk/client-s3]' | tr -d '"')"

FROM node:24-slim
WORKDIR /app
# Of malloc (glibc) what bin/proofstream.js says for a small machine.
ENV NODE_ENV=production MALLOC_MMAP_THRESHOLD_=65536 MALLOC_ARENA_MAX=2
# Where commands beside the node find its token.
ENV PROOFSTREAM_DATA=/data
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY streams ./streams
COPY texts ./texts
COPY bin ./bin
COPY demo ./demo
# `docker exec … proofstream demo`: the command beside the node, with the data that it loads.
RUN ln -s /app/bin/proofstream.js /usr/local/bin/proofstream
# /data: what belongs to one process. /store, /keys: what processes of an installation share. Nothing else is written.
RUN mkdir -m 700 /data /store /keys && chown node:node /data /store /keys
USER node
VOLUME ["/data", "/store", "/keys"]
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Without a shell or npm in between, so that the node itself gets the signal to stop.
ENTRYPOINT ["node", "--v8-pool-size=1", "dist/main.js"]
CMD ["serve", "--data", "/data", "--listen", "0.0.0.0:8080"]
