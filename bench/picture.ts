// A picture of bars that lie beside each other, as SVG: groups of them, each bar with its label and its value. It has its
// own ground, and follows the light or dark scheme of the reader; no script, and no font from elsewhere.

export interface BarGroup {
  readonly title: string
  readonly bars: readonly { readonly label: string; readonly value: number }[]
}

const [width, labelWidth, valueWidth, margin] = [760, 120, 110, 16]
const [titleHeight, lineHeight, groupHeight, barHeight, barGap] = [34, 17, 30, 18, 6]
/** The first colour is that of the program itself. */
const colours = ['own', 'peer', 'peer'] as const
const style = `
    text { font: 13px system-ui, sans-serif; fill: #1f2328 }
    .head { font-size: 16px; font-weight: 600 }
    .group { font-weight: 600 }
    .faint { font-size: 12px; fill: #59636e }
    .ground { fill: #ffffff; stroke: #d1d9e0 }
    .own { fill: #0969da }
    .peer { fill: #8c959f }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc }
      .faint { fill: #9198a1 }
      .ground { fill: #0d1117; stroke: #3d444d }
      .own { fill: #4493f8 }
      .peer { fill: #6e7681 }
    }`

const escaped = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')

function text(x: number, y: number, words: string, kind = ''): string {
  return `  <text x="${x}" y="${y}"${kind === '' ? '' : ` class="${kind}"`}>${escaped(words)}</text>`
}

/** Bars of a group share their scale with those of all other groups. */
export function barPicture(
  title: string,
  subtitles: readonly string[],
  groups: readonly BarGroup[],
  unit: string,
): string {
  const most = Math.max(...groups.flatMap(({ bars }) => bars.map(({ value }) => value)))
  const room = width - 2 * margin - labelWidth - valueWidth
  const parts: string[] = []
  let y = titleHeight + subtitles.length * lineHeight
  for (const { title: groupTitle, bars } of groups) {
    parts.push(text(margin, y + 20, groupTitle, 'group'))
    y += groupHeight
    bars.forEach(({ label, value }, i) => {
      const long = Math.max(1, Math.round((value / most) * room))
      const left = margin + labelWidth
      parts.push(
        text(margin, y + 14, label),
        `  <rect x="${left}" y="${y}" width="${long}" height="${barHeight}" rx="2" class="${colours[i] ?? 'peer'}"/>`,
        text(left + long + 8, y + 14, `${Math.round(value / 1000).toLocaleString('en')} ${unit}`),
      )
      y += barHeight + barGap
    })
  }
  const height = y + margin
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `  <title>${escaped(title)}</title>`,
    `  <style>${style}\n  </style>`,
    `  <rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="6" class="ground"/>`,
    text(margin, 26, title, 'head'),
    ...subtitles.map((line, i) => text(margin, 46 + i * lineHeight, line, 'faint')),
    ...parts,
    '</svg>\n',
  ].join('\n')
}
