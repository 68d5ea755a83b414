// Data that would harm a page which takes it for markup: elements, scripts, entities, directions, controls, length.

/** A column of such a name. */
export const hostileName = '<b onclick=alert(1)>"&amp;\''

export const hostileText =
  '<img src=x onerror=alert(1)><script>alert(2)</script><a href="javascript:alert(3)">x</a>&lt;b&gt;' +
  '"><svg onload=alert(4)> \u202eevil\u2066 \u0007\u0000\u001b[31m ${alert(5)} {{7*7}} </textarea></title>'

export const hostileRows = [
  {
    [hostileName]: hostileText,
    nested: { a: [hostileText] },
    long: hostileText.repeat(5_000),
    wide: '\u{1d4d0}'.repeat(262_144),
  },
  { [hostileName]: '</table></main><h1>owned</h1>', nested: { a: [] }, long: 'x'.repeat(1_048_576), wide: '' },
]
