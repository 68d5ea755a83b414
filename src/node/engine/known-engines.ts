// The engines that this release knows: the package of each on npm, the hashes of its archives as npm has them, and the SHA-256
// of the library itself by platform. Nothing else is run.
// `test/node/engine/known-engines.test.ts` holds them against the lock file and what is installed.

export interface KnownEngine {
  /** Of DuckDB, as a dialect has it. */
  readonly version: string
  /** Of `@duckdb/node-api` and its parts. */
  readonly packageVersion: string
  /** Integrity of the archives that every platform needs, by package. */
  readonly archives: Readonly<Record<string, string>>
  readonly platforms: Readonly<Record<string, KnownLibrary>>
  /** SHA-256 of the names and digests of the files in `lib` of `@duckdb/node-api`, as native-engine.ts writes them, in hex. */
  readonly modules: string
}

/** The package `@duckdb/node-bindings-<platform>`. */
export interface KnownLibrary {
  readonly archive: string
  /** SHA-256 of its library and of `duckdb.node`, in hex. */
  readonly library: string
  readonly addon: string
}

export const knownEngines: readonly KnownEngine[] = [
  {
    version: '1.5.6',
    packageVersion: '1.5.6-r.1',
    archives: {
      '@duckdb/node-api':
        'sha512-yIPol6P4EQmsAUsb27donJf7iADrM31Ei/WkvhkZpSscjhEErYsuF19lsJ/qz5mUWxsKFQpLdjvrlhPQnMTBqw==',
      '@duckdb/node-bindings':
        'sha512-/pWlTyvKC1d16iSMJCBAPwlmzoeXRs5Y9cqG+TpKd/YAW6Ke05FJg099v/Im2bkS9BgznNyNcAK1NxA1eQhSUw==',
    },
    modules: '9bf03c77333a5cf0700332550dd86b95c31f131fdfdc315f4682c24b0714df8b',
    platforms: {
      'darwin-arm64': {
        archive: 'sha512-KFT/J/pyouuAD1jftAIfcWVRdorg+c/yVR/BJL8LJKrST+mYC4d7QSuQ+iXSYbFpHENUAeZUagXrMPtZT8Xzsg==',
        library: '75a519cb914ae36ca22cff0995a8a2e8c9a46990b8c0a479514f741a0d93f344',
        addon: '5381b6dee307f7e3f9974aae01b1e479b9464f4b52d2da011b1357bdefecfc62',
      },
      'darwin-x64': {
        archive: 'sha512-tVwUZNvdQoaPJhrh3q2e6jxm1MhahNHJQK/pvCyco46NX0mEuGzlw9i0n2MArgsyzccdCwScOK9ctbyr+3oMbQ==',
        library: '75a519cb914ae36ca22cff0995a8a2e8c9a46990b8c0a479514f741a0d93f344',
        addon: '2036f3c0b1387b579495e994eca4230b76990c3adb581b45e566b37083fbf29d',
      },
      'linux-arm64': {
        archive: 'sha512-3jnUaDil1BrF/6vAZwVaInJ1xoBaWGHB4PDiUnzJWKCo8a8TLx9j7/gPyPl/UGRBftrYIuTihRZSfF4mWMgtWA==',
        library: '23686593dba4ec22c6e581bb1c843b3964e84c4bc4d0063d8b4daddd2e20e30a',
        addon: '437e268d6ad3e59a0bd250713a4258ca5f505ff1c43326579deae2906676b54d',
      },
      'linux-arm64-musl': {
        archive: 'sha512-j6dcNLWnFvlQyKMtl36HyeDsOaetXFoj0dH21Q9MbLjABNuJs5ekDV6zMSEda/g5+z1Tm6r2KFOS8j3tGUCRiw==',
        library: '2b322fee1f171915e5f19182277f63b9a2f1b409bb731cb93491de6a149b2417',
        addon: '9566059728e8f576398ffcbb85fcd4be784a509b09e9b5b028477057acda3254',
      },
      'linux-x64': {
        archive: 'sha512-IXcrZJE6kEqM0Z4wwdVnGBHX/frOS33VPNAwDXQ/Q+Fs84b058Qe94chrCCIcNJlG8Y3UHIUU4eBeCQxW5mN1Q==',
        library: '3f4962cdd266eab2b479a5b5a4a6d063d279b2954ae814ed00385d553b747633',
        addon: 'ff7fc7f2c2bcba140c29d09d0f486b891c6c4d9fe694e38a11a853b40e2a5d96',
      },
      'linux-x64-musl': {
        archive: 'sha512-PVzIEZqp7QN07WBgjmIH0cK2GKXR735KmL6wnghTzRnhHWrePxx3MjZB9zZHI8tB73wdF8luarBm4EgqSjGyVA==',
        library: 'b08c938d495995864a84ab0c5d38e1e8e6dddcc9fddbbc26c85fc09ad48ececb',
        addon: '86626424b93ff25538e3317c9961fcc77b1cfb1ee2a2692ca8fd8e04a23855f4',
      },
      'win32-arm64': {
        archive: 'sha512-nzNTZx9rus5QpuX+KH6UOPNeZp8yF25TxV6DiUly4RKgR5mu6xo8c7a7lS80AqxTJfJ9BwUIiqlCuYKWztRM5A==',
        library: 'f4652f29d0bec2ebc8f87d6242551051b93faa89ec6e427669e4e690f269bc1e',
        addon: '591f79bafc4f2af88ae14f7397b295fee716d5f44fe90b4be853ba5bb3e8d3dc',
      },
      'win32-x64': {
        archive: 'sha512-5Rpn5WXEG5gY/u7Keh+c4kuwG/LiE31pCP9CoCohv+u0aFensk/yRIQVW/CXuIoITky9xFhdRzaWUtAnGTYxJQ==',
        library: '7e90bdef028d57b45490d6f53530e3c012a5d9abdc4c6723449200663dc84ed0',
        addon: '74301fec16800a0cde8f53c276a2ce95cb0be397cd596afb21e3a75a8ce11b00',
      },
    },
  },
]
