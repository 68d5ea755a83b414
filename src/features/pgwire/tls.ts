// The certificate of the door, read again when its files change. While they do not fit together the one before stays.

import { readFile } from 'node:fs/promises'
import { watchFile, unwatchFile } from 'node:fs'
import { createSecureContext, type SecureContext } from 'node:tls'
import { NodeError } from '../../libraries/base/errors.ts'
import type { Logger } from '../../libraries/base/logger.ts'

const lookMs = 5_000

export interface Certificate {
  /** As the files have it now. */
  readonly context: () => SecureContext
  close(): void
}

/** Throws NodeError `InvalidParameter` for files that are not there, or no certificate and its key. */
export async function readCertificate(
  files: { readonly cert: string; readonly key: string },
  { logger }: { readonly logger: Logger },
): Promise<Certificate> {
  let context = await contextOf(files).catch((cause: unknown) => {
    throw new NodeError(
      'InvalidParameter',
      `The certificate of the PostgreSQL door cannot be used: ${files.cert}, ${files.key}.`,
      {
        hint: 'Both are PEM files, and the key belongs to the first certificate.',
        cause,
      },
    )
  })
  const renew = async (): Promise<void> => {
    try {
      context = await contextOf(files)
      logger.info({ cert: files.cert }, 'The certificate of the PostgreSQL door was read again')
    } catch (err) {
      logger.warn(
        { err, cert: files.cert },
        'The certificate of the PostgreSQL door has changed and cannot be used: the one before stays',
      )
    }
  }
  const onChange = (): void => void renew()
  const watched = [files.cert, files.key]
  for (const path of watched) watchFile(path, { persistent: false, interval: lookMs }, onChange)
  return {
    context: () => context,
    close: () => {
      for (const path of watched) unwatchFile(path, onChange)
    },
  }
}

async function contextOf({ cert, key }: { readonly cert: string; readonly key: string }): Promise<SecureContext> {
  return createSecureContext({ cert: await readFile(cert), key: await readFile(key), minVersion: 'TLSv1.2' })
}
