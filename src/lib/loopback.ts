// Whether a host can only be this machine: what the node listens on, whom a command gives the token of this machine, and
// which Host headers and pages a node on loopback trusts.

/** `host` in lower case, without port and brackets. Other spellings of such an address are none. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
}
