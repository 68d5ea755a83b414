// What `npm test` leaves out and `npm run test:all` runs: files that take more than a few seconds, because they start nodes,
// browsers or brokers many times, or go through many seeds. What is not named here needs nothing but Node.js.

export const slowFiles: string[] = [
  // Seeds and kills: some are enough beside the others.
  'test/sim/{adopt-log,packs,seeds-odd,lost-log}.test.ts',
  'test/crash/{points,stream-cuts}.test.ts',
  // A browser for each page.
  'test/console/{changes,ingest,moving,proof,query,rerun,verify}*.test.ts',
  'test/console/pages.test.ts',
  // Programs of others: Python, brokers, proxies, engines.
  'test/clients/**/*.test.ts',
  'test/deploy/**/*.test.ts',
  'test/examples/**/*.test.ts',
  'test/iceberg/{engines,merged,trino}.test.ts',
  'test/docs/{readme,replicas,on-disk}.test.ts',
  // Nodes that are started again and again, or copied from.
  'test/scenario/{adopt-log,backup,damage,far-store,line-protocol,lost-rows,mqtt,packed,reject,senders}.test.ts',
  'test/follow/*.test.ts',
  'test/bundle/{bundle,hostile}.test.ts',
  'test/cli/{doctor,follow,ingest-pipe,lifecycle,save,start-faults}.test.ts',
  'test/client/client.test.ts',
  // Long chains, large bodies, many processes, each value of many.
  'test/replica/{layouts,merged,settings}.test.ts',
  'test/catalog/known-ids.test.ts',
  'test/engine/{foreign-files,hostile,limits,processes,stability,value-class}.test.ts',
  'test/builder/{column-work,replay}.test.ts',
  'test/gateway/{first-posts,row-reader}.test.ts',
  'test/http/{answers-under-way,events,events-of-packs,odd-places,round-trip,stream,stream-by-socket}.test.ts',
  'test/store/{packs,s3-trial,slice-files}.test.ts',
]
