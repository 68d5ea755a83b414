// DuckDB in the browser: the worker of @duckdb/duckdb-wasm, as the node that serves the page hands it out.

import { EngineFailure, PortableEngine } from '../../../libraries/proof/rerun/engine.ts'

const notInstalled =
  'This node has no engine for browsers. Its operator can install @duckdb/duckdb-wasm beside it. With a bundle, proofstream verify --bundle runs the query without any node.'

/** Starts the engine whose two files lie under `base`. Throws EngineFailure. */
export async function openBrowserEngine(base: URL): Promise<PortableEngine> {
  const script = new URL('duckdb-browser-eh.worker.js', base)
  const { ok } = await fetch(script, { method: 'HEAD' })
  if (!ok) throw new EngineFailure(notInstalled)
  return await PortableEngine.open(({ answer, fault }) => {
    const worker = new Worker(script)
    worker.onmessage = ({ data }) => answer(data)
    worker.onerror = ({ message }) => fault(message)
    return { send: (message) => worker.postMessage(message), close: () => worker.terminate() }
  }, new URL('duckdb-eh.wasm', base).href)
}
