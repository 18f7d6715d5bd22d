import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** compose.yaml with these variables filled in. It is parsed by PyYAML: this repository has no use for YAML but here. */
export function readCompose(path, variables) {
  const toJson = 'import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)'
  const text = execFileSync('/usr/bin/python3', ['-c', toJson], { input: readFileSync(path, 'utf8') }).toString()
  return fill(JSON.parse(text), variables)
}

/** `NAME=value` lines. */
export function readVariables(path) {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => /^\w+=/.test(line))
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)))
}

/** Returns the faults of a compose file, as far as one file can tell of another. */
export function checkCompose({ services, volumes = {}, networks = {}, secrets = {} }, { nginx, exposed }) {
  const wrong = []
  const check = (isRight, message) => isRight || wrong.push(message)
  for (const [name, service] of Object.entries(services)) {
    check(/^[\w./-]+(:[\w.-]+)?(@sha256:[0-9a-f]{64})?$/.test(service.image ?? ''), `${name} has no image`)
    for (const other of Object.keys(service.depends_on ?? {})) {
      check(services[other], `${name} depends on ${other}, which is no service`)
      const isChecked = services[other]?.healthcheck || services[other]?.build
      check(isChecked, `${name} waits for the health of ${other}, which has no check`)
    }
    for (const volume of service.volumes ?? []) {
      const [source] = volume.split(':')
      check(/^[./]/.test(source) || source in volumes, `${name} mounts ${source}, which is no volume`)
    }
    for (const network of service.networks ?? [])
      check(network in networks, `${name} is in ${network}, which is no network`)
    for (const secret of service.secrets ?? [])
      check(secret in secrets, `${name} is given ${secret}, which is no secret`)
    for (const [variable, value] of Object.entries(service.environment ?? {})) {
      check(typeof value === 'string', `${name}: ${variable} is not a text`)
    }
  }
  const targets = [...nginx.matchAll(/server ([\w-]+):(\d+)/g)].map(([, host, port]) => ({ host, port }))
  for (const { host, port } of targets) {
    check(services[host]?.build, `nginx sends to ${host}, which is no gateway`)
    check(exposed.includes(port), `nginx sends to port ${port}, which the image does not expose`)
  }
  const listening = [...nginx.matchAll(/listen (\d+)/g)].map(([, port]) => port)
  for (const port of services.proxy.ports) {
    check(listening.includes(port.split(':').at(-1)), `nobody listens on ${port}`)
  }
  return wrong
}

function fill(value, variables) {
  if (Array.isArray(value)) return value.map((item) => fill(item, variables))
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fill(item, variables)]))
  }
  if (typeof value !== 'string') return value
  return value.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_all, name, kind, rest) => {
    if (variables[name]) return variables[name]
    if (kind === '-') return rest
    throw new Error(`${name}: ${rest ?? 'it is not set'}`)
  })
}
