// A second engine, so that the tests have one that is not of the release: the list of this process has it once this is imported,
// and that of a command with `olderEngineEnv`.

import { type KnownEngine, knownEngines } from '../../src/node/engine/known-engines.ts'

export const olderEngine: KnownEngine = {
  version: '1.5.5',
  packageVersion: '1.5.5-r.5',
  archives: {
    '@duckdb/node-api':
      'sha512-ZMX+sel3DjSKbGuQ44Y5Tp5LwYjlJkhB5faKr+9sSMcxixDMSW+8vaTOD1uRDuN9o0udUoCY/XX9PI1haEZuZg==',
    '@duckdb/node-bindings':
      'sha512-sR7x91TfBunLqLbdvrcdiPCU+VGEQFPicxh1STZM402fuHW2ituPTAo2bY3IlntsvJShltrKF4R6B+JYPlAPZg==',
  },
  modules: '9bf03c77333a5cf0700332550dd86b95c31f131fdfdc315f4682c24b0714df8b',
  platforms: {
    'darwin-arm64': {
      archive: 'sha512-WJdeLTFy4pRg60rkbp9smtlP1iIQ8ErtIJkxS+2LQtM1ZZMSByyW+3WPpNoKe7IwPtVl2fLlPw7tDmQW4Z974g==',
      library: 'b9027d18ef3e8d960568f77e946a83ca68009cb22d71cf7f94de842afdd094d8',
      addon: 'ba396b8fc069b1c34d1b5d3bdb7f54b1ddef160b6f440b2539fcef89720e9947',
    },
    'darwin-x64': {
      archive: 'sha512-rN0KjX13MwVQ5V5ufykolty/tf4SaafOpGWcUA1Cegf98jPeRdsJsEE1IMXn8n3u6WvMSZEVJmHJ3ma4Hr7Vzg==',
      library: 'b9027d18ef3e8d960568f77e946a83ca68009cb22d71cf7f94de842afdd094d8',
      addon: 'c7d75d167487bc96d3bd2a54969f0fb816c5415c3a1d064b3e88966acaf4e4c3',
    },
    'linux-arm64': {
      archive: 'sha512-CafH2AIvXtpwDynG3KB/4uEOHRGlFoB7auCRMIwH3BKNIobsANV5LSpDJ3tfyRCFIsK6e8AT1eseWVnu2Dv3cw==',
      library: 'd00d007f3f7ca1f2896a5e4b89c2ce141bf0508506a9d6d56f9598b8e59d074e',
      addon: '51b959ad6a5b57cfa3e9a5d20bffebe0e58974222efcddcd97c85e12700dbbb1',
    },
    'linux-arm64-musl': {
      archive: 'sha512-00z3mYHUBAucp3L73EoftKDdaGOaV8ENELejiT+PK7dFjTzdXxqhJwZ1LaQV1/zEhIecz+x23f6WvFhWw+7XXQ==',
      library: 'b7ca0fcde2828167e9b5d8741d0eb5dbe520d67b0a4687f19cf2974fd59d11c3',
      addon: '12d8c980901c88eea2d5c7622f364a50800e639714458d16de486365c0c48f6d',
    },
    'linux-x64': {
      archive: 'sha512-kCyq6BXhn6QXfwF8yVdVKriSSHP+rfVWcJ56cG8qZzlOZpxyvT5WGm6jMshxg4ditLlOsHsIN/D47RYrcjXuHQ==',
      library: 'fc23f12e376c47be520f75221288281906e7942e8fd6f6ce4849198ba60d0405',
      addon: '778d45b3d918a8d3b6dfeb819472472d3ff85d427110973fc9c1b0d462514c15',
    },
    'linux-x64-musl': {
      archive: 'sha512-S5qEc7F+GjXt85T2xArjjvN5oc/IjtH6zsLJsuo8N3fQolheBCefemIMdZoK2Jik8a0sBxidiS6Ld4qprMPPDw==',
      library: 'f9f9884b72a730751fdf4d6dd96368153f2f6c8b7358162c819166788dbd60bc',
      addon: 'bf0160e4c5a1c0b1fc821252553883c8f16f07112385df35cf066ac4a60cbe73',
    },
    'win32-arm64': {
      archive: 'sha512-L3Mroc23xhqOowWVElni8LgEmsm5e9DdG1y2pLka/1ug3Pl2vpQMl1Phxwz4UEMF8DOBbMgN5BBNrYwG2BFo+g==',
      library: 'ca938da6e124d6c91fcbff5983860ebc3753576e5b04c11ad8bc9135853aa752',
      addon: 'e4e6d94b1c8d30497222356ce7761fd3a50c8a121cf484d7eae54fef818ea9c1',
    },
    'win32-x64': {
      archive: 'sha512-mBGFn8netT/AAhK4TOG6Fw47+Db68CxCVtQ9qfxZc1kZAjds+aYrh17Fd/u5CbTDdxILsrcyuF8q9cUcm54kQA==',
      library: '2b7468a4ad844429e6af2fde0b5f91893e8130a5686a88f11442ab547c7ede46',
      addon: 'a587a097a6ce7f370e12cf6530a187813cabd03aba36a6caeaba6912e01a3d63',
    },
  },
}

// A test's own row in the list of the release.
const list = knownEngines as KnownEngine[]
list.push(olderEngine)

export const olderEngineEnv = { NODE_OPTIONS: `--import=${import.meta.url}` }
