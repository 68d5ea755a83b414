// Which datasets have bare names, as the catalogue says it: programs write names by that.

import { expect, test } from 'vitest'
import { freePort } from '../../helpers/free-port.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { connected, errorOf, type PgClient } from './pg.ts'

const port = await freePort()
const live = await liveNode({ 'pg-listen': `127.0.0.1:${port}` })
for (const alias of ['acme/days', 'acme/same', 'zoo/things', 'zoo/same']) {
  await live.ingest(alias, [{ n: 1 }], '?create=true')
}

/** What is current, what is visible, and whose a bare name is. */
async function told(client: PgClient): Promise<readonly unknown[]> {
  const sql = `
    select current_schema() as current, (select string_agg(relname, ',' order by relname, relnamespace) from pg_class
    where relnamespace > 16000 and pg_table_is_visible(oid)) as visible, current_schemas(false)::text as schemas`
  const { rows } = await client.query(sql)
  return Object.values(rows[0] ?? {})
}
const ownerOf = async (client: PgClient, name: string): Promise<unknown> =>
  (await client.query(`select relnamespace::regnamespace::text as it from pg_class where oid = '${name}'::regclass`))
    .rows[0]?.['it']

test('in the database of an account, its own', async () => {
  const client = await connected({ port, database: 'zoo' })
  expect(await told(client)).toEqual(['zoo', 'same,things', '[zoo]'])
  expect(await ownerOf(client, 'same')).toBe('zoo')
  expect((await errorOf(ownerOf(client, 'days'))).code).toMatch(/^(?:22000|XX000|42P01)$/)
  expect(await ownerOf(client, 'acme.days')).toBe('acme')
  expect((await client.query('select n from same')).rows).toEqual([{ n: '1' }])
  await client.end()
})

test('in the database all, those of the search path; without one all are listed, and none is current', async () => {
  const client = await connected({ port })
  expect(await told(client)).toEqual([null, 'days,same,same,things', '[acme, zoo]'])
  await client.query('set search_path to zoo, public')
  expect(await told(client)).toEqual(['zoo', 'same,things', '[zoo]'])
  expect(await ownerOf(client, 'same')).toBe('zoo')
  await client.query('set search_path to nothing')
  expect(await told(client)).toEqual([null, null, '[]'])
  await client.end()
})
