import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { UsageError } from '../../client/failure.ts'

export const saveKeyOption = [
  '--save-key <file>',
  'write the key into a new file that only you can read, instead of printing it',
] as const

/** Creates the file before the key is made, so that no key is lost, and removes it where `work` fails. Without a path it returns the answer of `work`. */
export async function savingKey<Answer extends { apiKey?: string; operatorKey?: string; signingKey?: string }>(
  path: string | undefined,
  work: () => Promise<Answer>,
  option = '--save-key',
): Promise<Answer & { keyFile?: string }> {
  if (path === undefined) return work()
  const file = create(path, option)
  try {
    const { apiKey, operatorKey, signingKey, ...answer } = await work()
    writeSync(file, `${apiKey ?? operatorKey ?? signingKey ?? ''}\n`)
    return { ...answer, keyFile: path } as Answer & { keyFile: string }
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
}

function create(path: string, option: string): number {
  try {
    return openSync(path, 'wx', 0o600)
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code
    const remedy =
      reason === 'EEXIST' ? 'It already exists: move it away, or name another file.' : `It cannot be made (${reason}).`
    throw new UsageError(`${option}: ${path}. ${remedy}`, { cause: error })
  }
}
