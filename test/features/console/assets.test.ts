// verify.html as a node serves it: whole, kept by its tag, under the policy that it states itself, closed to frames.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { liveNode } from '../../helpers/live-node.ts'

const path = '/assets/verify.html'
const live = await liveNode({ 'anonymous-read': false })

describe('GET /assets/verify.html', () => {
  it('is the page that was built, open to all', async () => {
    const answer = await live.call(path, { token: null })
    expect(answer.status).toBe(200)
    expect(answer.text).toBe(readFileSync('dist/pages/verify.html', 'utf8'))
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
    })
    const policy = String(answer.headers['content-security-policy'])
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[^']{44}'; style-src 'sha256-[^']{44}'; /)
    expect(policy).toMatch(/; frame-ancestors 'none'$/)
    expect(policy).not.toMatch(/unsafe|connect-src|https?:/)
  })

  it('is 304 for who holds it', async () => {
    const { headers } = await live.call(path, { token: null })
    const again = await live.call(path, { token: null, headers: { 'if-none-match': String(headers.etag) } })
    expect([again.status, again.text]).toEqual([304, ''])
  })
})
