// Writes a container image of the package as an OCI image layout, without a daemon and without a base image:
// node scripts/image.ts PACKAGE.tgz FOLDER. Two layers: Node.js with the C libraries of this machine that it and the engine
// load, and the package with its dependencies. Linux with glibc, GNU tar and gzip.
// Source: https://github.com/opencontainers/image-spec

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  createReadStream,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { arch, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'

const user = 65532
const program = '/app/node_modules/proofstream/bin/proofstream.js'
const architecture = { x64: 'amd64', arm64: 'arm64' }[arch() as string] ?? arch()

const [archive, target] = process.argv.slice(2)
if (archive === undefined || target === undefined) {
  process.stderr.write('usage: node scripts/image.ts PACKAGE.tgz FOLDER\n')
  process.exit(2)
}

const work = mkdtempSync(join(tmpdir(), 'proofstream-image-'))
try {
  mkdirSync(join(target, 'blobs', 'sha256'), { recursive: true })
  const app = join(work, 'app')
  installPackage(archive, app)
  const base = join(work, 'base')
  makeBase(base, join(app, 'app', 'node_modules'))
  await writeImage(target, [await layerOf(base, target), await layerOf(app, target)])
} finally {
  rmSync(work, { recursive: true, force: true })
}

interface Blob {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

interface Layer {
  readonly blob: Blob
  /** Of the tar before it was compressed. */
  readonly diffId: string
}

/** The package with its dependencies for this platform, and a directory for its data. */
function installPackage(packed: string, root: string): void {
  const folder = join(root, 'app')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n')
  const options = ['--omit=dev', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', '--install-links']
  execFileSync('npm', ['install', ...options, realpathSync(packed), bucketClient()], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  for (const name of ['package.json', 'package-lock.json', 'node_modules/.package-lock.json'])
    rmSync(join(folder, name), { force: true })
  mkdirSync(join(root, 'data'), { mode: 0o700 })
}

/** The client for a store in a bucket, which the package leaves to its users, in the release that tests run with. */
function bucketClient(): string {
  const name = '@aws-sdk/client-s3'
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  const { devDependencies } = JSON.parse(text) as { devDependencies: Record<string, string> } // our own
  return `${name}@${devDependencies[name]}`
}

/** Node.js, the program's name, the libraries that are loaded, a user, places for temporary files. */
function makeBase(root: string, modules: string): void {
  const node = join(root, 'usr', 'local', 'bin', 'node')
  mkdirSync(dirname(node), { recursive: true })
  copyFileSync(realpathSync(process.execPath), node)
  chmodSync(node, 0o755)
  // By its name in a container, where there is neither a shell nor env.
  writeFileSync(join(root, 'usr', 'local', 'bin', 'proofstream'), `#!/usr/local/bin/node\nimport('${program}')\n`, {
    mode: 0o755,
  })
  const native = execFileSync('find', [modules, '-name', '*.node', '-o', '-name', '*.so'], { encoding: 'utf8' })
  const libraries = new Set([node, ...native.trim().split('\n')].flatMap(librariesOf))
  // Host names are looked up by these, which no file names.
  for (const name of ['libnss_dns.so.2', 'libnss_files.so.2', 'libresolv.so.2']) {
    const beside = [...libraries].find((path) => path.endsWith('/libc.so.6'))
    if (beside !== undefined) libraries.add(join(dirname(beside), name))
  }
  for (const path of libraries) {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) continue
    mkdirSync(dirname(join(root, path)), { recursive: true })
    copyFileSync(realpathSync(path), join(root, path))
    chmodSync(join(root, path), 0o755)
  }
  mkdirSync(join(root, 'etc'))
  writeFileSync(join(root, 'etc', 'passwd'), `root:x:0:0:root:/:/none\nproofstream:x:${user}:${user}::/data:/none\n`)
  writeFileSync(join(root, 'etc', 'group'), `root:x:0:\nproofstream:x:${user}:\n`)
  writeFileSync(join(root, 'etc', 'nsswitch.conf'), 'hosts: files dns\n')
  mkdirSync(join(root, 'tmp'))
  chmodSync(join(root, 'tmp'), 0o1777)
}

/** Absolute paths of what the dynamic loader loads for a file, itself included. */
function librariesOf(path: string): string[] {
  const told = execFileSync('ldd', [path], { encoding: 'utf8' })
  return [...told.matchAll(/(?:=> )?(\/\S+) \(0x/g)]
    .map(([, found = '']) => found)
    .filter((found) => !found.startsWith(work))
}

/** The tree as a layer among the blobs: sorted, without times, `data` of the user and all else of root. */
async function layerOf(root: string, to: string): Promise<Layer> {
  const tar = join(work, 'layer.tar')
  const common = [
    '--sort=name',
    '--mtime=@0',
    '--numeric-owner',
    '--format=posix',
    '--pax-option=delete=atime,delete=ctime',
  ]
  const owned = (id: number): string[] => [`--owner=${id}`, `--group=${id}`]
  const names = execFileSync('ls', ['-A', root], { encoding: 'utf8' }).trim().split('\n')
  const ofRoot = names.filter((name) => name !== 'data')
  execFileSync('tar', [...common, ...owned(0), '-cf', tar, '-C', root, ...ofRoot])
  if (names.includes('data')) execFileSync('tar', [...common, ...owned(user), '-rf', tar, '-C', root, 'data'])
  const diffId = await digestOf(tar)
  execFileSync('gzip', ['-n', '-6', '-f', tar])
  return { blob: await keepBlob(to, `${tar}.gz`, 'application/vnd.oci.image.layer.v1.tar+gzip'), diffId }
}

async function writeImage(to: string, layers: readonly Layer[]): Promise<void> {
  const { version, license, description } = JSON.parse(
    readFileSync(join(work, 'app', 'app', 'node_modules', 'proofstream', 'package.json'), 'utf8'),
  ) as Readonly<Record<string, string>>
  const config = {
    architecture,
    os: 'linux',
    config: {
      User: String(user),
      Env: ['PATH=/usr/local/bin', 'NODE_ENV=production', 'PROOFSTREAM_DATA=/data', 'PROOFSTREAM_LISTEN=0.0.0.0:8080'],
      Entrypoint: ['/usr/local/bin/node', program],
      Cmd: ['serve'],
      WorkingDir: '/data',
      Volumes: { '/data': {} },
      ExposedPorts: { '8080/tcp': {} },
      StopSignal: 'SIGTERM',
      Labels: {
        'org.opencontainers.image.title': 'proofstream',
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.licenses': license,
        'org.opencontainers.image.description': description,
      },
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: [{ created_by: 'Node.js and its libraries' }, { created_by: `proofstream ${version}` }],
  }
  const manifest = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: await keepJson(to, config, 'application/vnd.oci.image.config.v1+json'),
    layers: layers.map(({ blob }) => blob),
  }
  const blob = await keepJson(to, manifest, manifest.mediaType)
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        ...blob,
        platform: { architecture, os: 'linux' },
        annotations: { 'org.opencontainers.image.ref.name': version },
      },
    ],
  }
  writeFileSync(join(to, 'index.json'), JSON.stringify(index))
  writeFileSync(join(to, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
}

async function keepJson(to: string, value: unknown, mediaType: string): Promise<Blob> {
  const file = join(work, 'value.json')
  writeFileSync(file, JSON.stringify(value))
  return keepBlob(to, file, mediaType)
}

/** Moves a file to the place that its hash names. */
async function keepBlob(to: string, file: string, mediaType: string): Promise<Blob> {
  const [digest, { size }] = [await digestOf(file), statSync(file)]
  const place = join(to, 'blobs', ...digest.split(':'))
  // The folder may lie on another volume.
  copyFileSync(file, `${place}.part`)
  renameSync(`${place}.part`, place)
  rmSync(file)
  return { mediaType, digest, size }
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return `sha256:${hash.digest('hex')}`
}
