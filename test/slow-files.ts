// What `npm test` leaves out and `npm run test:all` runs: files that take more than a few seconds, because they start nodes,
// browsers or brokers many times, or go through many seeds. One file of each feature stays. What is not named here needs nothing but Node.js.

export const slowFiles: string[] = [
  // Seeds and kills: some are enough beside the others.
  'test/sim/{adopt-log,packs,seeds-odd,lost-log}.test.ts',
  'test/crash/{points,restore,stream-cuts}.test.ts',
  // A browser for each page.
  'test/console/{changes,ingest,moving,proof,query,rerun,verify}*.test.ts',
  'test/console/pages.test.ts',
  // Programs of others: Python, brokers, proxies, engines.
  'test/clients/**/*.test.ts',
  'test/deploy/**/*.test.ts',
  'test/examples/**/*.test.ts',
  'test/iceberg/{engines,merged,trino}.test.ts',
  'test/http/{foreign-columns,gis-clients,remote-readers,schemathesis}.test.ts',
  'test/parquet/random-files.test.ts',
  'test/store/{s3-emulators,versitygw}.test.ts',
  'test/mqtt/subscription.test.ts',
  'test/docs/{metrics,on-disk,readme,replicas}.test.ts',
  // Nodes that are started again and again, or copied from.
  'test/scenario/{adopt-log,backup,damage,far-store,halted-dataset,lost-rows,mqtt,packed,reject,senders,store-that-fails}.test.ts',
  'test/follow/{behind,damaged-copy,damaged-packs,hostile-answers,hostile-origin,other-software}.test.ts',
  'test/bundle/bundle.test.ts',
  'test/cli/{config,doctor,exit-codes,follow,hostile-node,ingest,ingest-pipe,lifecycle,many-tokens,pack,save,start-faults}.test.ts',
  // Long chains, large bodies, many processes, each value of many.
  'test/replica/{layouts,merged,settings}.test.ts',
  'test/catalog/{cold-open,known-ids,packed-chain}.test.ts',
  'test/engine/{foreign-files,hostile,limits,processes,stability,streamed-types,value-class}.test.ts',
  'test/builder/{column-work,replay}.test.ts',
  'test/gateway/{apart,costs,first-posts,large-batch,row-reader}.test.ts',
  'test/http/{answers-under-way,caller-gone,compression,connections,events,events-of-packs,file-parts,large-json,odd-places}.test.ts',
  'test/http/{odd-texts,pipelining,process-per-rights,quotas,round-trip,slow-file-reader,stream,stream-by-socket}.test.ts',
  'test/http/{stream-of-cells,waiting-rights}.test.ts',
  'test/formats/shapefile/damage.test.ts',
  'test/formats/arrow/round-trip.test.ts',
  'test/parquet/{codecs,damage,wide}.test.ts',
  'test/store/{packs,s3-faults,s3-store,s3-trial}.test.ts',
]
