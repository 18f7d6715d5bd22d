import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dataDirectory } from '../support/data-directory.ts'
import { atFileEnd } from '../support/ends.ts'
import { freePort, type ProcessGateway, startProcessGateway } from '../support/process-gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { ask } from '../support/request.ts'
import { until } from '../support/until.ts'

const deploy = join(import.meta.dirname, '../../deploy')
const rules = join(deploy, 'prometheus/alerts.yml')
const dashboard = JSON.parse(readFileSync(join(deploy, 'grafana/rouse.json'), 'utf8'))

interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
}

/** Every query of the dashboard, for one job and over a few scrapes. */
const queries = (dashboard.panels as Panel[]).flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({
    title,
    query: expr.replaceAll('$job', 'rouse').replaceAll('$__rate_interval', '10s'),
  })),
)

const missing = ['prometheus', 'promtool'].find((name) => spawnSync(name, ['--version']).error)
if (missing) console.warn(`${missing} is not installed: the rules and the dashboard are not tried with it.`)

test('the dashboard names only series that the gateway has', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8')
  const named = [...JSON.stringify(queries).matchAll(/\brouse_[a-z_]+/g)].map(([name]) =>
    name.replace(/_(bucket|sum|count)$/, ''),
  )
  expect([...new Set(named)].filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  expect(queries.length).toBeGreaterThan(20)
})

test.skipIf(missing)('Prometheus accepts the rules', () => {
  expect(execFileSync('promtool', ['check', 'rules', rules], { encoding: 'utf8' })).toContain('SUCCESS')
})

test.skipIf(missing)(
  'Prometheus scrapes a gateway, and has an answer to each query of the dashboard and to each rule',
  async () => {
    await using gateway = await startProcessGateway()
    const viewer = { role: 'viewer', label: 'prometheus' }
    const { body } = await gateway.call('POST', '/v1/operator-keys', viewer)
    await using prometheus = await startPrometheus(new URL(gateway.url).host, body.operatorKey)
    await using receiver = await startReceiver()
    let sent = 0
    const work = async (): Promise<unknown[]> => {
      await makeWork(gateway, receiver.url, sent++)
      const empty = await Promise.all(queries.map(async (one) => ({ ...one, rows: await prometheus.ask(one.query) })))
      return empty.filter(({ rows }) => rows.length === 0).map(({ title, query }) => ({ title, query }))
    }
    expect(await until(work, (empty) => empty.length === 0, 60_000, 500)).toEqual([])
    const groups = await until(prometheus.rules, (all) => all.every(({ health }) => health !== 'unknown'))
    expect(groups.filter(({ health }) => health !== 'ok')).toEqual([])
    expect(groups.length).toBeGreaterThan(10)
    const firing = groups.filter(({ state }) => state === 'firing').map(({ name }) => name)
    expect(firing).not.toContain('RouseDown')
  },
)

/** Makes the gateway do one of everything that the dashboard shows, but for recovery, whose counts begin at zero. */
async function makeWork(gateway: ProcessGateway, url: string, nth: number): Promise<void> {
  const agent = await gateway.addAgent(`@agent${nth}`)
  // Nobody listens there.
  await gateway.subscribe(agent, 'http://127.0.0.1:9/', { trigger: 'SENT_TO_ME' })
  await gateway.subscribe(agent, url, { trigger: 'TASK_STATE_CHANGED' })
  await gateway.call('POST', '/v1/sessions', {}, agent)
  await gateway.send(agent, 'hello')
  await gateway.call('PATCH', '/v1/projects/default', { limits: { messagesPerMinute: 1 } })
  const mail = () => gateway.call('POST', '/v1/messages', { to: agent.handle, subject: 'hello' }, agent)
  await mail()
  if ((await mail()).status !== 429) throw new Error('Nothing was refused.')
}

interface Rule {
  readonly name: string
  readonly health: string
  readonly state: string
}

/** A Prometheus that scrapes one gateway every second. */
async function startPrometheus(target: string, key: string) {
  const directory = dataDirectory()
  const at = (name: string): string => join(directory.path, name)
  writeFileSync(at('key'), key)
  const job = {
    job_name: 'rouse',
    authorization: { credentials_file: at('key') },
    static_configs: [{ targets: [target] }],
  }
  const global = { scrape_interval: '1s', evaluation_interval: '1s' }
  // JSON is YAML.
  writeFileSync(at('prometheus.yml'), JSON.stringify({ global, rule_files: [rules], scrape_configs: [job] }))
  const listening = `127.0.0.1:${await freePort()}`
  const options = [`--config.file=${at('prometheus.yml')}`, `--storage.tsdb.path=${at('data')}`]
  const child = spawn('prometheus', [...options, `--web.listen-address=${listening}`], { stdio: 'ignore' })
  atFileEnd(() => void child.kill('SIGKILL'))
  const get = async (path: string) => {
    const answer = await ask(`http://${listening}/api/v1/${path}`, 'GET', {}).catch(() => undefined)
    return answer?.status === 503 ? undefined : answer && JSON.parse(answer.text)
  }
  await until(
    () => get('query?query=up'),
    (answer) => answer?.data.result.length > 0,
  )
  return {
    async ask(query: string): Promise<readonly unknown[]> {
      const answer = await get(`query?query=${encodeURIComponent(query)}`)
      if (answer.status !== 'success') throw new Error(`${query}: ${JSON.stringify(answer)}`)
      return answer.data.result
    },
    rules: async (): Promise<Rule[]> =>
      (await get('rules')).data.groups.flatMap((group: { rules: Rule[] }) => group.rules),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await once(child, 'close')
      directory[Symbol.dispose]()
    },
  }
}
