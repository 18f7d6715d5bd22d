import type { Io } from '../../client/io.ts'
import { secretVariables } from '../../client/secret-files.ts'
import { settingList } from '../../config/settings.ts'
import { closestWord } from '../../lib/nearest-names.ts'

/** The variables that only the other commands read, and those that `rouse listen --exec` gives its command: a shell may hold them. */
const otherVariables = [
  'ROUSE_AGENT',
  'ROUSE_AGENT_SURFACE',
  'ROUSE_BRIDGE_CONFIG',
  'ROUSE_EVENT_ID',
  'ROUSE_EVENT_TYPE',
  'ROUSE_FROM',
  'ROUSE_KEY',
  'ROUSE_KEY_FILE',
  'ROUSE_LOG_ID',
  'ROUSE_MESSAGE_ID',
  'ROUSE_PROFILE',
  'ROUSE_PROJECT',
  'ROUSE_SUBJECT',
  'ROUSE_SUBSCRIPTION_ID',
  'ROUSE_TASK_ID',
  'ROUSE_TEXT',
  'ROUSE_THREAD_ID',
  'ROUSE_URL',
]

const known: readonly string[] = [
  ...settingList.map(({ name }) => name),
  ...secretVariables.map((name) => `${name}_FILE`),
  ...otherVariables,
]
/** The variables that Kubernetes sets in every container beside a service of that name. */
const ofKubernetes = /^ROUSE_(SERVICE_|PORT_\d)/
const listedMax = 20
const nameMax = 100

/** Variables that look like settings and are none, each with the one that it may stand for. Their values are never looked at. */
export function unknownVariables(env: Io['env']): { readonly variable: string; readonly meant: string | undefined }[] {
  const names = Object.keys(env).filter((name) => name.startsWith('ROUSE_') && !known.includes(name))
  return names
    .filter((name) => !ofKubernetes.test(name) && env[name] !== undefined)
    .slice(0, listedMax)
    .map((name) => {
      const variable = name.slice(0, nameMax)
      return { variable, meant: closestWord(variable, known) }
    })
}
