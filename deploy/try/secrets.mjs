import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execute } from './execute.mjs'

/** The secrets of compose.yaml, made as an operator makes them. */
export async function makeSecrets(repository, directory) {
  await execute('sh', [join(repository, 'deploy/make-secrets.sh'), directory])
  const of = (name) => readFileSync(join(directory, name), 'utf8').trim()
  return {
    of,
    /** A directory with these of them, as an engine mounts it. */
    only(names, target) {
      mkdirSync(target, { recursive: true })
      for (const name of names) cpSync(join(directory, name), join(target, name))
      return target
    },
  }
}
