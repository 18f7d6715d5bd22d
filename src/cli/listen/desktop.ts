import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { withoutSecrets } from '../../client/secret-input.ts'
import { clip } from '../../client/terminal-text.ts'
import { inertValue } from '../../client/wakes/inert-text.ts'
import type { Wake } from '../../client/wakes/wake.ts'
import { isJsonObject } from '../../lib/json.ts'
import { needActs } from '../../words/needs.ts'
import { countsText } from '../output/needs-view.ts'

const run = promisify(execFile)
const showMsMax = 10_000
const bodyMax = 200

/** The text of a notification: a line of ours, and the words of others. */
interface Notice {
  readonly title: string
  readonly body: string
}

/** Shows a notification on the desktop of this user. Rejects where that cannot be done. */
export async function showNotice(
  { title, body }: Notice,
  { env }: Pick<Io, 'env'>,
  platform = process.platform,
): Promise<void> {
  const options = { env: withoutSecrets(env), timeout: showMsMax }
  // The words come as arguments that are no options, and never as a part of the script.
  if (platform === 'darwin') await run('osascript', ['-e', script, title, body], options)
  else await run('notify-send', ['--app-name=Rouse', '--', title, withoutMarkup(body)], options)
}

const script = 'on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run'

/** Servers of notifications may read HTML in the body. */
function withoutMarkup(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
}

const does: ReadonlyMap<unknown, string> = new Map(Object.entries(needActs))
const troubles: readonly unknown[] = ['failing', 'retrying', 'degraded']

const listedMax = 50

/** The notice of a wake. Of a digest of needs: how many there are, and the most urgent one. Undefined: nothing that a person has to know now. */
export async function readNotice(wake: Wake, gateway: GatewayClient): Promise<Notice | undefined> {
  const { latestSignal } = wake.payload
  if (wake.eventType !== 'wake/digest' || !isJsonObject(latestSignal) || latestSignal.need === undefined) {
    return noticeOf(wake)
  }
  const found = await gateway.call('GET /v1/needs', { query: { limit: listedMax } }).catch(() => undefined)
  const need = found?.needs.find(({ snoozedUntil }) => snoozedUntil === undefined)
  if (!found || !need) return noticeOf(wake)
  const { kind, agent, text } = need
  const first = noticeOf({ ...needWake, payload: { change: 'raised', kind, agent, subject: text } })!
  return { title: `Rouse: ${countsText(found)}`, body: `${first.title}. ${first.body}`.trim() }
}

/** Returns what a wake says on the desktop; undefined: nothing that a person has to know now. Pure. */
export function noticeOf({ eventType, payload }: Wake): Notice | undefined {
  const { change, kind, agent, subject, eventCount, latestSignal } = payload
  if (eventType === 'wake/digest') {
    const latest = isJsonObject(latestSignal) ? noticeOf({ ...needWake, payload: latestSignal }) : undefined
    return { title: `Rouse: ${said(eventCount)} events`, body: latest ? `${latest.title}. ${latest.body}`.trim() : '' }
  }
  if (eventType !== needWake.eventType) return { title: `Rouse: ${said(eventType)}`, body: said(subject) }
  const whose = agent === null ? 'The project' : said(agent)
  if (change === 'raised') return { title: `${whose} ${does.get(kind) ?? 'needs you'}`, body: said(subject) }
  // A person who has answered a question knows that.
  return troubles.includes(kind) ? { title: `${whose} is woken again`, body: '' } : undefined
}

const needWake = { eventType: 'wake/need_changed', eventId: '' }

/** Words of others: one line that no program takes for an option. */
const said = (text: unknown): string => clip(inertValue(text) ?? '', bodyMax)
