// Whether a host can only be this machine: what the node listens on, whom a command gives the token of this machine, and
// which Host headers and pages a node on loopback trusts.

/** `host` in lower case, without port and brackets. Other spellings of such an address are none. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
}

/** Host and port of `host:port` or a port alone, which is one of the loopback; undefined for any other text. */
export function hostAndPort(text: string): { readonly host: string; readonly port: number } | undefined {
  const match = /^(?:(\[[0-9a-fA-F:.]+\]|[^:[\]]*):)?(\d{1,5})$/.exec(text)
  const port = Number(match?.[2])
  if (match === null || port > 65_535) return undefined
  const host = (match[1] ?? '').replace(/^\[|\]$/g, '')
  return { host: host === '' ? '127.0.0.1' : host, port }
}
