import type { Io } from '../../client/io.ts'
import { secretVariables } from '../../client/secret-files.ts'
import { closestWord } from '../../lib/closest-word.ts'

/** The variables of the gateway. A test compares this with the configuration. */
export const gatewayVariables = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
  'OTEL_SDK_DISABLED',
  'OTEL_TRACES_EXPORTER',
  'ROUSE_ADMIN_KEY',
  'ROUSE_AUDIT_RETENTION_DAYS',
  'ROUSE_BLOCKING_TIMEOUT',
  'ROUSE_BODY_MAX',
  'ROUSE_BUS_URL',
  'ROUSE_CONNECTIONS',
  'ROUSE_CONNECTIONS_PER_ADDRESS',
  'ROUSE_DATABASE_URL',
  'ROUSE_DATA_DIR',
  'ROUSE_DELIVERY_RETENTION_DAYS',
  'ROUSE_ENCRYPTION_KEY',
  'ROUSE_GRPC_PORT',
  'ROUSE_GRPC_PUBLIC_TARGET',
  'ROUSE_HOST',
  'ROUSE_JWT_ISSUERS',
  'ROUSE_LOG_LEVEL',
  'ROUSE_MESSAGES_PER_MINUTE',
  'ROUSE_MESSAGE_ARCHIVE',
  'ROUSE_MESSAGE_RETENTION',
  'ROUSE_MCP_EVENTS',
  'ROUSE_MCP_EVENTS_ALLOW_HTTP',
  'ROUSE_MCP_EVENTS_CODES',
  'ROUSE_METRICS',
  'ROUSE_NAME_SERVERS',
  'ROUSE_OTLP_ENDPOINT',
  'ROUSE_PORT',
  'ROUSE_PUBLIC_URL',
  'ROUSE_RETENTION_DAYS',
  'ROUSE_SESSION_TIMEOUT',
  'ROUSE_STORM_MESSAGES',
  'ROUSE_STORM_TURNS',
  'ROUSE_TLS_CERT',
  'ROUSE_TLS_CLIENT_CA',
  'ROUSE_TLS_KEY',
  'ROUSE_TRUSTED_PROXIES',
  'ROUSE_WEBHOOK_ALLOW',
  'ROUSE_WEBHOOK_PROXY',
  'ROUSE_WEBHOOK_TIMEOUT',
  'ROUSE_WRONG_KEYS_PER_MINUTE',
] as const

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
  'ROUSE_SIGNING_KEY',
  'ROUSE_SUBJECT',
  'ROUSE_SUBSCRIPTION_ID',
  'ROUSE_TASK_ID',
  'ROUSE_TEXT',
  'ROUSE_THREAD_ID',
  'ROUSE_URL',
]

const known: readonly string[] = [
  ...gatewayVariables,
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
