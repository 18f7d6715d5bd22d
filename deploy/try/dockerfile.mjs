import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const asItIs = { recursive: true, verbatimSymlinks: true }

/** The stages of a Dockerfile, each with its steps as they are written; an instruction that is not known here is refused. */
export function readDockerfile(text) {
  const stages = []
  /** The defaults of what comes before the first stage. */
  const given = {}
  const lines = text
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  for (const line of lines) {
    const [, op, rest] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? fail(`What is "${line}"?`)
    if (op === 'FROM') {
      const [, image, name = String(stages.length)] = /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(rest) ?? fail(line)
      stages.push({ name, image: image.replace(/^\$\{(\w+)\}$/, (_all, variable) => given[variable]), steps: [] })
    } else if (op === 'ARG' && stages.length === 0) {
      const [, variable, value] = /^(\w+)=(\S+)$/.exec(rest) ?? fail(line)
      given[variable] = value
    } else stages.at(-1).steps.push({ op, rest, line })
  }
  return stages
}

/**
 * Builds one stage as layers over this machine: copies into its layer, runs its steps in it. Answers what the image says of
 * how it is run. `outer.run(script, { workdir, env, user })` runs a step, `outer.layerOf(stage)` is a stage's directory.
 */
export async function buildStage(stage, context, outer) {
  const image = { workdir: '/', env: {}, user: 'root', volumes: [], healthcheck: [], entrypoint: [], cmd: [] }
  const layer = outer.layerOf(stage.name)
  const within = (path) => join(layer, path.startsWith('/') ? path : join(image.workdir, path))
  const acts = {
    WORKDIR: (rest) => {
      image.workdir = rest
      mkdirSync(within(rest), { recursive: true })
    },
    ARG: (rest) => acts.ENV(rest),
    ENV: (rest) => Object.assign(image.env, Object.fromEntries(rest.split(/\s+/).map((pair) => pair.split(/=(.*)/s)))),
    USER: (rest) => {
      image.user = rest
    },
    VOLUME: (rest) => image.volumes.push(rest),
    EXPOSE: () => {},
    ENTRYPOINT: (rest) => {
      image.entrypoint = JSON.parse(rest)
    },
    CMD: (rest) => {
      image.cmd = JSON.parse(rest)
    },
    HEALTHCHECK: (rest) => {
      image.healthcheck = JSON.parse(rest.slice(rest.indexOf('CMD') + 3))
    },
    RUN: (rest) => outer.run(rest, image),
    COPY: (rest) => {
      const words = rest.split(/\s+/)
      const from = words[0].startsWith('--from=') ? outer.layerOf(words.shift().slice(7)) : context
      const target = words.pop()
      const isDirectory = target.endsWith('/') || words.length > 1
      for (const word of words) {
        const source = join(from, word)
        if (!existsSync(source)) fail(`COPY ${rest}: there is no ${word}. Does .dockerignore let it in?`)
        cpSync(source, isDirectory ? join(within(target), basename(word)) : within(target), asItIs)
      }
    },
  }
  for (const { op, rest, line } of stage.steps) {
    await (acts[op] ?? fail(`This trial cannot do "${line}".`))(rest)
  }
  return image
}

/** Copies what .dockerignore lets into a build: everything is out, and names with "!" are in. */
export function copyContext(root, into) {
  const rules = readFileSync(join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
  if (rules.shift() !== '*' || rules.some((rule) => !/^![\w.-]+$/.test(rule)))
    fail('.dockerignore: first "*", then "!name".')
  const names = rules.map((rule) => rule.slice(1))
  for (const name of readdirSync(root).filter((name) => names.includes(name))) {
    cpSync(join(root, name), join(into, name), asItIs)
  }
  return into
}

function fail(message) {
  throw new Error(message)
}
