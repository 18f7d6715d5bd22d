import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ProcessGateway, type RouseProcess, runRouse } from '../support/process-gateway.ts'
import type { Receiver } from '../support/receiver.ts'
import { besideStore, onPostgres } from '../support/store.ts'
import { SecretWatch } from './secrets.ts'

/** A whole run whose every answer, line, wake and file is looked through at its end. */
export class Run {
  readonly watch = new SecretWatch()
  readonly gateway: ProcessGateway
  readonly scratch: string
  readonly logs: string[] = []

  constructor(gateway: ProcessGateway, scratch: string) {
    this.gateway = gateway
    this.scratch = scratch
  }

  /** One request; `hands` names the members of the answer that are secrets for the caller. */
  async call(method: string, path: string, body: unknown, key: string, ...hands: string[]) {
    const { headers, text } = await this.#ask(method, path, body, { authorization: `Bearer ${key}` })
    const answer = text.startsWith('{') ? JSON.parse(text) : text
    const handed = hands.map((member) => this.watch.secret(`${member} of ${method} ${path}`, answer[member]))
    this.#emitAnswer(method, path, headers, text, handed)
    return answer
  }

  /** One request with headers of its own. `hands` names a header of the answer that is a secret for the caller: it is in `handed`. */
  async request(method: string, path: string, body: unknown, given: Record<string, string>, hands?: string) {
    const { status, headers, text } = await this.#ask(method, path, body, given)
    const handed =
      hands === undefined ? '' : this.watch.secret(`${hands} of ${method} ${path}`, headers.get(hands) ?? '')
    this.#emitAnswer(method, path, headers, text, [handed])
    return { status, text, handed }
  }

  async #ask(method: string, path: string, body: unknown, headers: Record<string, string>) {
    const response = await fetch(this.gateway.url + path, {
      method,
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  #emitAnswer(method: string, path: string, headers: Headers, text: string, handed: string[]): void {
    this.watch.emit(`the answer to ${method} ${path}`, `${JSON.stringify([...headers])}\n${text}`, handed)
  }

  /** `rouse …` in a process of its own. */
  async rouse(argv: string[], env: Record<string, string> = {}) {
    return this.exit(argv, this.start(argv, env))
  }

  /** The same, for one that goes on until something ends it: then `exit` keeps what it has printed. */
  start(argv: string[], env: Record<string, string> = {}): RouseProcess {
    const child = runRouse(argv, { ROUSE_URL: this.gateway.url, ...env })
    this.#look(child.pid, `rouse ${argv[0]}`)
    return child
  }

  async exit(argv: string[], child: RouseProcess) {
    const { code, stdout, stderr } = await child.exited
    this.watch.emit(`what rouse ${argv.join(' ')} prints`, `${stdout}\n${stderr}`)
    return { code, stdout, stderr }
  }

  /** The command line of a process, which other users of the machine can see. */
  #look(pid: number, what: string): void {
    const path = `/proc/${pid}/cmdline`
    if (existsSync(path)) this.watch.emit(`the command line of ${what}`, readFileSync(path))
  }

  /** Ends the gateway that runs and keeps what it printed. */
  async end(signal: NodeJS.Signals): Promise<void> {
    this.#look(this.gateway.pid, 'the gateway')
    const { stdout, stderr } = await this.gateway.kill(signal)
    this.logs.push(stdout, stderr)
    this.watch.emit('what the gateway prints', `${stdout}\n${stderr}`)
  }

  arrivals(receiver: Receiver, what: string, allowed: string[]): void {
    for (const { headers, raw } of receiver.wakes) this.watch.emit(what, `${JSON.stringify(headers)}\n${raw}`, allowed)
  }

  secretsOfFiles(): void {
    for (const name of ['admin.key', 'encryption.key', 'instance.key']) {
      const path = join(this.gateway.dataDir, name)
      if (existsSync(path)) this.watch.secret(name, readFileSync(path, 'utf8').trim())
    }
    const jwk = JSON.parse(readFileSync(join(this.gateway.dataDir, 'card-signing.jwk'), 'utf8'))
    for (const { d } of jwk.keys ?? [jwk]) if (d) this.watch.secret('the private half of a card key', d)
  }

  /** All files of a directory, and below it, but those that are there to hold a secret. */
  files(directory: string, secret: RegExp): void {
    for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || secret.test(entry.name)) continue
      this.watch.emit(`the file ${entry.name}`, readFileSync(join(entry.parentPath, entry.name)))
    }
  }

  async store(): Promise<void> {
    this.files(this.gateway.dataDir, /^(admin|encryption|instance)\.key|^card-signing\.jwk/)
    if (!onPostgres) return
    const tables = 'select tablename as name from pg_tables where schemaname = current_schema()'
    for (const { name } of await besideStore(this.gateway.dataDir, tables)) {
      const rows = await besideStore(this.gateway.dataDir, `select * from ${name}`)
      this.watch.emit(`the table ${name}`, JSON.stringify(rows))
    }
  }
}
