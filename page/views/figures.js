import { get, readable } from '../api.js'
import { ageOf } from '../show.js'
import { html, nothing, svg } from '../vendor/lit.js'

export const title = 'Figures'

const minutes = 60
const minuteMs = 60_000
const pagesMax = 5

/** The wakes that ended within the last hour, and when their events happened. */
export async function load() {
  const endedAfter = new Date(Date.now() - minutes * minuteMs).toISOString()
  const wakes = []
  let pageToken = ''
  for (let page = 0; page < pagesMax; page++) {
    const answer = await get('/v1/deliveries', { endedAfter, limit: 200, pageToken })
    wakes.push(...answer.deliveries)
    pageToken = answer.nextPageToken
    if (!pageToken || answer.deliveries.length === 0) break
  }
  const isCut = pageToken !== '' && wakes.length >= pagesMax * 200
  return { isCut, bars: figuresOf(wakes, await eventsOf(wakes), Date.now()) }
}

/** The events of wakes, as many as five pages have. */
async function eventsOf(wakes) {
  const events = []
  let since = Math.min(...wakes.map(({ logIds }) => logIds[0])) - 1
  for (let page = 0; page < pagesMax && wakes.length > 0; page++) {
    const answer = await readable(get('/v1/events', { since, limit: 1000 }), { events: [], more: false })
    events.push(...answer.events)
    since = answer.nextSince
    if (!answer.more) break
  }
  return events
}

/** Wakes of each minute, and how long they took from the newest of their events to the acknowledgement. Pure. */
export function figuresOf(wakes, events, now) {
  const happened = new Map(events.map(({ logId, createdAt }) => [logId, Date.parse(createdAt)]))
  const perMinute = Array.from({ length: minutes }, (_, at) => ({ ago: minutes - at, good: 0, bad: 0, latencies: [] }))
  for (const { outcome, logIds, updatedAt } of wakes) {
    const bar = perMinute[minutes - 1 - Math.floor((now - Date.parse(updatedAt)) / minuteMs)]
    if (!bar || outcome === 'pending') continue
    const isGood = outcome === 'delivered' || outcome === 'written'
    bar[isGood ? 'good' : 'bad'] += 1
    const at = happened.get(logIds.at(-1))
    if (isGood && at !== undefined) bar.latencies.push(Date.parse(updatedAt) - at)
  }
  return perMinute.map(({ latencies, ...bar }) => ({
    ...bar,
    latency: median(latencies),
    slowest: Math.max(0, ...latencies),
  }))
}

function median(values) {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)]
}

export function view({ bars, isCut }) {
  const good = bars.reduce((sum, bar) => sum + bar.good, 0)
  const bad = bars.reduce((sum, bar) => sum + bar.bad, 0)
  const timed = bars.filter(({ latency }) => latency !== undefined)
  const slowest = Math.max(0, ...bars.map((bar) => bar.slowest))
  return html`<figure class="card"><figcaption><h2>Wakes a minute, last hour</h2>
      <p>${good} arrived, ${bad} failed. A wake counts once, in the minute in which it ended, however many attempts it took; one that is sent again counts again.${isCut ? ' Only the newest thousand are here.' : nothing}</p></figcaption>
      ${picture(bars, [({ good: value }) => value, ({ bad: value }) => value], ['good', 'bad'])}</figure>
    <figure class="card"><figcaption><h2>Time from the event to the acknowledgement, last hour</h2>
      <p>${timed.length === 0 ? 'No wake arrived.' : `The slowest took ${inWords(slowest)}.`} A bar is the median of its minute. Coalescing and retries are part of it.</p></figcaption>
      ${picture(bars, [({ latency = 0 }) => latency], ['busy'], inWords)}</figure>
    ${
      good + bad === 0
        ? nothing
        : html`<details><summary>The same as a table</summary><table><thead><tr><th scope="col">Minutes ago</th><th scope="col">Arrived</th><th scope="col">Failed</th><th scope="col">Median</th></tr></thead>
      <tbody>${bars.filter((bar) => bar.good + bar.bad > 0).map((bar) => html`<tr><td>${bar.ago}</td><td>${bar.good}</td><td>${bar.bad}</td><td>${bar.latency === undefined ? '' : inWords(bar.latency)}</td></tr>`)}</tbody></table></details>`
    }`
}

const inWords = (ms) => (ms < 1_000 ? `${Math.round(ms)} ms` : ageOf(new Date(Date.now() - ms).toISOString()))

/** Bars over sixty minutes. Each bar stacks the values of its minute. */
function picture(bars, valuesOf, tones, format = String) {
  const totals = bars.map((bar) => valuesOf.reduce((sum, of) => sum + of(bar), 0))
  const top = Math.max(1, ...totals)
  return html`<svg class="bars" viewBox="0 0 620 140" role="img" aria-label="Bars of the last sixty minutes, at most ${format(top)}">
    <line x1="0" y1="120" x2="600" y2="120"></line><text x="0" y="135">60 min ago</text><text x="600" y="135" text-anchor="end">now</text><text x="0" y="12">${format(top)}</text>
    ${bars.flatMap((bar, at) => {
      let base = 120
      return valuesOf.map((of, nth) => {
        const height = (of(bar) / top) * 100
        base -= height
        return height === 0
          ? nothing
          : svg`<rect class=${tones[nth]} x=${at * 10 + 1} y=${base} width="8" height=${height}></rect>`
      })
    })}</svg>`
}
