// What `npm test` leaves out and `npm run test:all` runs: files that take more than a few seconds, because they start nodes,
// browsers or brokers many times, or go through many seeds. One file of each feature stays. What is not named here needs nothing but Node.js.

/** Programs of others as judges and clients, and what pages have their readers run. `npm run explore` has them, CI has not. */
export const exploredFiles: string[] = [
  'test/judges/{authority,ledger,omniwitness,served,tessera,witness}.test.ts',
  'test/clients/{collectd,home-assistant,influxdb-client,influxdb-javascript,node-red,opentelemetry,telegraf}.test.ts',
  'test/deploy/**/*.test.ts',
  'test/examples/**/*.test.ts',
  'test/docs/{client,devices,metrics,on-disk,operators,replicas}.test.ts',
  'test/features/iceberg/{engines,trino}.test.ts',
  'test/features/ogc/gis-clients.test.ts',
  'test/node/http/{foreign-columns,remote-readers,schemathesis}.test.ts',
  'test/drivers/s3/s3-emulators.test.ts',
  // Each bit of many packs, each layout of a chain, each proof that ever was: minutes of what other files hold by examples.
  'test/features/follow/damaged-packs.test.ts',
  'test/node/answers/layouts.test.ts',
  'test/features/console/rerun-golden.test.ts',
]

export const slowFiles: string[] = [
  ...exploredFiles,
  // Seeds and kills: some are enough beside the others.
  'test/sim/{adopt-log,packs,seeds-odd,lost-log}.test.ts',
  'test/crash/{points,restore,stream-cuts}.test.ts',
  // A browser for each page.
  'test/features/console/{changes,ingest,moving,pack,proof,query,rerun,verify}*.test.ts',
  'test/features/console/pages.test.ts',
  // Programs of others: Python, brokers, engines.
  'test/clients/**/*.test.ts',
  'test/judges/**/*.test.ts',
  'test/features/iceberg/merged.test.ts',
  'test/libraries/columnar/parquet/random-files.test.ts',
  'test/drivers/s3/versitygw.test.ts',
  'test/features/mqtt/subscription.test.ts',
  'test/docs/readme.test.ts',
  // Nodes that are started again and again, or copied from.
  'test/scenario/{adopt-log,backup,damage,far-store,halted-dataset,lost-rows,mqtt,packed,reject,senders,small-memory,store-that-fails}.test.ts',
  'test/features/follow/{behind,damaged-copy,damaged-packs,hostile-answers,hostile-origin,other-software}.test.ts',
  'test/node/bundle/{besides,bundle}.test.ts',
  'test/features/witness/{alone,follower}.test.ts',
  'test/features/ledger/{renewed,time-stamper}.test.ts',
  'test/cli/{doctor,exit-codes,follow,hostile-node,ingest,ingest-pipe,lifecycle,many-tokens,pack,save,start-faults}.test.ts',
  // Long chains, large bodies, many processes, each value of many.
  'test/node/answers/{layouts,merged,settings}.test.ts',
  'test/node/catalog/{cold-open,known-ids,packed-chain}.test.ts',
  'test/node/engine/{answer-memory,foreign-files,hostile,limits,many-threads,processes,stability,streamed-types,value-class}.test.ts',
  'test/node/builder/{shared-columns,replay}.test.ts',
  'test/node/gateway/{apart,costs,first-posts,large-batch,row-reader}.test.ts',
  'test/node/http/{answers-under-way,caller-gone,compression,connections,events,events-of-packs,file-parts,large-json,odd-places}.test.ts',
  'test/node/http/{golden-*,odd-texts,pipelining,process-per-rights,quotas,round-trip,slow-file-reader,stream,stream-by-socket}.test.ts',
  'test/node/http/waiting-rights.test.ts',
  'test/features/shapefile/damage.test.ts',
  'test/libraries/formats/arrow/round-trip.test.ts',
  'test/libraries/columnar/parquet/{codecs,damage,wide}.test.ts',
  'test/node/store/packs.test.ts',
  'test/drivers/s3/{s3-faults,s3-store,s3-trial}.test.ts',
]
