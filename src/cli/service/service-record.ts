import type { Io } from '../../client/io.ts'
import { readInstalled, type ServiceRecord, writeInstalled } from '../../config-files/record.ts'

/** Returns what was written as the service at a path; undefined: nothing of ours. */
export function serviceRecord(env: Io['env'], path: string): ServiceRecord | undefined {
  return readInstalled(env).services.get(path)
}

/** The paths of the services that are on record. */
export function servicePaths(env: Io['env']): string[] {
  return [...readInstalled(env).services.keys()]
}

/** Notes what was written as the service at a path; undefined: nothing of ours is there any more. */
export function saveServiceRecord(env: Io['env'], path: string, record: ServiceRecord | undefined): void {
  const { files, services } = readInstalled(env)
  const next = new Map(services)
  if (record) next.set(path, record)
  else next.delete(path)
  writeInstalled(env, { files, services: next })
}
