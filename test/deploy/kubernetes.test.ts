// The manifests of deploy/kubernetes against the code, and against the schemas of Kubernetes itself, of its oldest version that
// is of use and the newest that the judge has.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig, optionTable } from '../../src/app/config.ts'
import { must } from '../../src/libraries/base/assert.ts'
import { roles } from '../../src/libraries/model/names.ts'
import { repository } from '../helpers/sources.ts'
import { pythonJudge } from './python-judge.ts'

const folder = join(repository, 'deploy', 'kubernetes')
const files = readdirSync(folder).toSorted()
const texts = new Map(files.map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
const textOf = (name: string): string => must(texts.get(name), `${name} is there`)

/** Values by option name, of the configuration and of a role. */
function optionsOf(role: string): Record<string, string> {
  const config = [...textOf('config.yaml').matchAll(/^ {2}PROOFSTREAM_([A-Z0-9_]+): "?([^"\n]*)"?$/gm)]
  const own = [...textOf(`${role}.yaml`).matchAll(/name: PROOFSTREAM_([A-Z0-9_]+), value: "(.*?)"/g)]
  const [, words = '[]'] = /^ +args: (\[.*\])$/m.exec(textOf(`${role}.yaml`)) ?? []
  const [command, flag = '', value = ''] = JSON.parse(words) as string[]
  expect(command).toBe('serve')
  const set = [...config, ...own].map(([, name = '', text = '']) => [name.toLowerCase().replaceAll('_', '-'), text])
  return { ...Object.fromEntries(set), [flag.slice(2)]: value }
}

describe('the manifests', () => {
  it('are one for each role, with options that exist', () => {
    expect(files).toEqual(
      [...roles.map((role) => `${role}.yaml`), 'config.yaml', 'network.yaml', 'secret.yaml'].toSorted(),
    )
    for (const role of roles) {
      const options = optionsOf(role)
      expect(Object.keys(options).filter((name) => !optionTable.some((row) => row.name === name))).toEqual([])
      const config = loadConfig(options)
      expect([config.roles, config.listenPort, config.dataDir]).toEqual([[role], 8080, '/data'])
      expect(config.nodeKeyFile).toBe('/secret/node.json')
      const named = textOf(`${role}.yaml`).match(/PROOFSTREAM_\w+/g) ?? []
      expect(named.length).toBe(Object.keys(options).filter((name) => name.startsWith('limit-')).length)
    }
  })

  it('hold no secret', () => {
    const held = [...textOf('secret.yaml').matchAll(/^stringData:\n((?: {2}.*\n)+)/gm)].flatMap(([, lines = '']) =>
      lines.split('\n').filter((line) => /^ *[^ #]/.test(line)),
    )
    expect(held.map((line) => line.replace(/^.*: /, ''))).toEqual(Array.from({ length: 4 }, () => 'REPLACE'))
  })
})

interface Container {
  readonly securityContext: object
  readonly resources: object
  readonly startupProbe?: object
}

interface Manifest {
  readonly kind: string
  readonly spec: {
    readonly selector: object
    readonly template: {
      readonly metadata: { readonly labels: object }
      readonly spec: {
        readonly containers: readonly Container[]
        readonly initContainers?: readonly Container[]
        readonly securityContext: object
        readonly terminationGracePeriodSeconds: number
      }
    }
  }
}

const judge = pythonJudge(
  'kubernetes_validate, yaml',
  'kubernetes-validate',
  `
import json, sys, yaml, kubernetes_validate
docs = [doc for text in json.load(sys.stdin) for doc in yaml.safe_load_all(text)]
for version in ['1.27', kubernetes_validate.latest_version()]:
    for doc in docs: kubernetes_validate.validate(doc, version, strict=True)
print(json.dumps(docs))
`,
)

describe.runIf(judge.isHere)('by the schemas of Kubernetes', () => {
  it('the manifests are what they say, and a wrong one is not', () => {
    const docs = judge.ask(JSON.stringify([...texts.values()])) as Manifest[]
    const kinds = docs.map(({ kind }) => kind)
    const count = (kind: string): number => kinds.filter((one) => one === kind).length
    expect(['Deployment', 'Service', 'PodDisruptionBudget', 'ConfigMap', 'Secret'].map(count)).toEqual([3, 2, 3, 1, 2])
    const broken = textOf('builder.yaml').replace('readinessProbe', 'readynessProbe')
    expect(() => judge.ask(JSON.stringify([broken]))).toThrow('readynessProbe')
  })

  it('every container is closed, has its resources, and pods are found by their labels', () => {
    const docs = judge.ask(JSON.stringify([...texts.values()])) as Manifest[]
    for (const { spec } of docs.filter(({ kind }) => kind === 'Deployment')) {
      const pod = spec.template.spec
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
      expect(spec.selector).toEqual({ matchLabels: expect.anything() })
      expect(spec.template.metadata.labels).toMatchObject(Object(spec.selector).matchLabels)
      // What stops a process in order takes 15 s at most, behind the 5 s in which callers go elsewhere.
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(30)
      expect(pod.containers).toMatchObject([
        {
          startupProbe: { httpGet: { path: '/healthz' } },
          livenessProbe: { httpGet: { path: '/healthz' } },
          readinessProbe: { httpGet: { path: '/readyz' } },
        },
      ])
      for (const container of [...pod.containers, ...(pod.initContainers ?? [])]) {
        expect(container.securityContext).toMatchObject({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        expect(container.resources).toMatchObject({ requests: { cpu: expect.anything() }, limits: {} })
      }
    }
  })
})
