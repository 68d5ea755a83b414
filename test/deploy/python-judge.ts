// Judges from PyPI: a Python script that gets an input and answers with JSON. Where python3 has not its modules it says so
// loudly, and in CI that is a failure.

import { spawnSync } from 'node:child_process'

export interface PythonJudge {
  readonly isHere: boolean
  /** What the script prints as JSON for this input. Throws with what it says where it fails. */
  readonly ask: (input: string) => unknown
}

export function pythonJudge(modules: string, install: string, script: string): PythonJudge {
  const isHere = spawnSync('python3', ['-c', `import ${modules}`]).status === 0
  if (!isHere) {
    if (process.env['CI'] === 'true') throw new Error(`python3 needs ${install} here.`)
    console.warn(`NOT RUN: python3 has not ${modules} (pip install ${install})`)
  }
  return {
    isHere,
    ask(input) {
      const { status, stdout, stderr } = spawnSync('python3', ['-W', 'ignore', '-c', script], {
        input,
        encoding: 'utf8',
        maxBuffer: 1e8,
      })
      if (status !== 0) throw new Error(stderr)
      return JSON.parse(stdout) as unknown
    },
  }
}
