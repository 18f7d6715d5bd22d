import { hearDate } from './clock.js'
import { currentKey, forget } from './key.js'

/** A refusal of the gateway, in its own words. Status 0: no gateway answered. */
export class Refused extends Error {
  constructor(status, { code, detail, title, error, ...extra }) {
    super(detail ?? title ?? error?.message ?? `The gateway answered ${status}.`)
    Object.assign(this, { status, code, extra })
  }
}

const place = 'rouse-project'

/** The project in which an operator acts; null: that of the key. */
export const currentProject = () => sessionStorage.getItem(place)
export const useProject = (project) => sessionStorage.setItem(place, project)

/** The headers of every call. The page is no harness: an answer to it must bring no mail. */
export function headersOf(more = {}) {
  const project = currentProject()
  return {
    authorization: `Bearer ${currentKey()}`,
    'rouse-pending-signals': 'none',
    ...(project === null ? {} : { 'rouse-project': project }),
    ...more,
  }
}

/** Calls the REST API. A change that is asked for again before it was answered is the same change. */
export function call(method, path, { query, body, headers } = {}) {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== '')
  const address = given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
  const json = body === undefined ? undefined : JSON.stringify(body)
  const type = json === undefined ? {} : { 'content-type': 'application/json' }
  if (method === 'GET') return ask(address, { method, headers })
  return once(`${method} ${address} ${json}`, (key) =>
    ask(address, {
      method,
      body: json,
      headers: { ...type, ...(method === 'POST' ? { 'idempotency-key': key } : {}), ...headers },
    }),
  )
}

async function ask(address, { headers, ...options }, key = currentKey()) {
  const sentAt = Date.now()
  const answer = await fetch(address, {
    ...options,
    headers: key === currentKey() ? headersOf(headers) : { authorization: `Bearer ${key}`, ...headers },
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'error',
    referrerPolicy: 'no-referrer',
  }).catch(unanswered)
  hearDate(answer.headers.get('date'), sentAt)
  const text = await answer.text().catch(unanswered)
  const view = readJson(text)
  if (answer.ok && view !== undefined) return view
  // Nothing else says that the key is of no use.
  if (answer.status === 401 && key !== null) forget(key)
  throw new Refused(answer.status, view ?? {})
}

/** An empty answer is an empty object. Something else than JSON is no answer of the gateway. */
function readJson(text) {
  try {
    return text === '' ? {} : JSON.parse(text)
  } catch {
    return undefined
  }
}

function unanswered(cause) {
  throw Object.assign(new Refused(0, { detail: 'The gateway does not answer.' }), { cause })
}

/** The changes that have no answer yet: a second click gets the answer of the first, and a new try the key of the one before. */
const begun = new Map()

function once(name, send) {
  const known = begun.get(name)
  if (known?.answer) return known.answer
  const key = known?.key ?? randomId()
  const answer = send(key).then(
    (view) => {
      begun.delete(name)
      return view
    },
    (error) => {
      const isAnswered = error.status >= 400 && error.status < 500
      if (isAnswered) begun.delete(name)
      else begun.set(name, { key })
      throw error
    },
  )
  begun.set(name, { key, answer })
  return answer
}

export const get = (path, query) => call('GET', path, { query })

/** Returns whose a key is, without keeping it. */
export const callerOf = (key) => ask('/v1/whoami', { method: 'GET' }, key)

/** Exchanges the code of a sign-in link for the key that it stands for. It works once. */
export const exchangeCode = async (code) => (await ask('/page/sign-in', { method: 'POST' }, code)).key

/** Reads the pages of a list, up to a number of them. `isCut`: there are more. */
export async function pages(path, query, name, pagesMax = 4) {
  const items = []
  let pageToken = ''
  for (let page = 0; page < pagesMax; page++) {
    const answer = await get(path, { ...query, pageToken })
    items.push(...answer[name])
    pageToken = answer.nextPageToken
    if (!pageToken) break
  }
  return { items, isCut: Boolean(pageToken) }
}

/** A list that the key may not read, or that this gateway does not have, is `otherwise`. Any other error is one. */
export async function readable(promise, otherwise) {
  try {
    return await promise
  } catch (error) {
    if (error instanceof Refused && (error.status === 403 || error.status === 404)) return otherwise
    throw error
  }
}

/** Sends a message to an agent over A2A: a new task, or a reply in one. Returns the task. */
export function sendMessage(agent, text, taskId) {
  return once(`message ${agent} ${taskId} ${text}`, async (messageId) => {
    const message = { messageId, role: 'ROLE_USER', parts: [{ text }], ...(taskId ? { taskId } : {}) }
    const params = { message, configuration: { returnImmediately: true } }
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params }
    const headers = { 'a2a-version': '1.0', 'content-type': 'application/json', 'idempotency-key': messageId }
    const { result, error } = await ask(addressOf(agent), { method: 'POST', body: JSON.stringify(body), headers })
    if (error) throw new Refused(400, { detail: error.message })
    return result.task
  })
}

/** The address of `@donna`, or of `web:@donna` in another project. */
function addressOf(agent) {
  const [, project, handle] = /^(?:(.*):)?@?(.*)$/.exec(agent)
  const path = `/agents/${encodeURIComponent(handle)}`
  return project === undefined ? path : `/projects/${encodeURIComponent(project)}${path}`
}

// Not randomUUID: browsers have it over TLS and on this machine only.
function randomId() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
