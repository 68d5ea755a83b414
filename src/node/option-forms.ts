// What the items of options that are lists look like: one of another form would be taken and never count.

interface Form {
  readonly item: RegExp
  readonly expected: string
}

const forms: Readonly<Record<string, Form>> = {
  'allowed-hosts': {
    item: /^(?:[A-Za-z0-9._-]+|(?:[0-9A-Fa-f.]*:){2,}[0-9A-Fa-f.]*)$/,
    expected: 'names of hosts, without scheme, port and brackets',
  },
  'cors-origins': {
    item: /^(?:\*|null|[a-z][a-z0-9+.-]*:\/\/[a-z0-9._:[\]-]+)$/,
    expected: "origins as browsers send them, such as https://app.example, or '*'",
  },
  'trusted-signers': { item: /^did:key:z6Mk[1-9A-HJ-NP-Za-km-z]{44}$/, expected: 'did:key:z6Mk… of Ed25519 keys' },
}

/** What the items of option `name` must be, where one of them is not; undefined where all are. */
export function expectedItems(name: string, items: readonly string[]): string | undefined {
  const form = forms[name]
  return form === undefined || items.every((item) => form.item.test(item)) ? undefined : form.expected
}
