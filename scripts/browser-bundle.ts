// Bundles a file of `src/` for browsers: one script or module without imports, libraries/base/ids/browser-crypto.ts in the place of
// libraries/base/ids/native-crypto.ts. What still needs Node.js after that is an error.

import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = new URL('../', import.meta.url)
const seam = fileURLToPath(new URL('src/libraries/base/ids/native-crypto.ts', root))
const twin = fileURLToPath(new URL('src/libraries/base/ids/browser-crypto.ts', root))

/**
 * A classic script, minified. `name`: the variable that holds what `entry` exports; without one it exports nothing.
 * Throws where an import cannot be resolved or is a module of Node.js.
 */
export async function browserBundle(entry: string, name?: string): Promise<string> {
  return await bundled(entry, { format: 'iife', ...(name === undefined ? {} : { name }) })
}

/** A module, minified, which exports what `entry` does. Throws as `browserBundle`. */
export async function browserModule(entry: string): Promise<string> {
  return await bundled(entry, { format: 'es' })
}

async function bundled(
  entry: string,
  form: { readonly format: 'iife' | 'es'; readonly name?: string },
): Promise<string> {
  const bundle = await rolldown({
    input: fileURLToPath(new URL(entry, root)),
    platform: 'browser',
    tsconfig: false,
    // That a plugin took long says something of the machine.
    checks: { pluginTimings: false },
    plugins: [
      {
        name: 'browser-crypto',
        async resolveId(specifier, importer) {
          if (specifier.startsWith('node:')) throw new Error(`${importer} imports ${specifier}`)
          const found = await this.resolve(specifier, importer, { skipSelf: true })
          return found?.id === seam ? twin : found
        },
      },
    ],
    onLog(level, { message }) {
      if (level === 'warn') throw new Error(message)
    },
  })
  try {
    const { output } = await bundle.generate({ ...form, minify: true })
    return output[0].code
  } finally {
    await bundle.close()
  }
}
