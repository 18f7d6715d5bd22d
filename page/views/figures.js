import { get } from '../api.js'
import { clockTime, counted, lengthOf } from '../show.js'
import { html, nothing, svg } from '../vendor/lit.js'

export const title = 'Figures'
/** The gateway counts: they are read twice a minute, however much happens. */
export const listens = () => false
export const isTimed = true

const askedMinutes = 60
export const load = () => get('/v1/figures', { minutes: askedMinutes })

export function view({ from, to, buckets, totals }) {
  const { delivered, failed, open, p50Ms, p95Ms } = totals
  const isShort = Date.parse(to) - Date.parse(from) < (askedMinutes - 1) * 60_000
  return html`${isShort ? html`<p class="failure">There are more wakes than are counted: these are those since ${clockTime(from)}.</p>` : nothing}
    <figure class="card"><figcaption><h2>Wakes of the last hour</h2>
      <p><strong>${counted(delivered, 'wake')}</strong> arrived, <strong class=${failed > 0 ? 'bad' : ''}>${failed.toLocaleString('en')}</strong> failed${open > 0 ? `, ${open.toLocaleString('en')} are still tried` : ''}. A wake counts once, in the minute of its newest event, however many attempts it took.</p></figcaption>
      ${bars(
        buckets,
        [
          ['delivered', 'good'],
          ['failed', 'bad'],
          ['open', 'ask'],
        ],
        { from, to },
        (top) => `${top} a minute`,
      )}</figure>
    <figure class="card"><figcaption><h2>From the event to the acknowledgement</h2>
      <p>${p50Ms === null ? 'No wake arrived.' : html`Half of them took at most <strong>${inWords(p50Ms)}</strong>, 19 of 20 at most <strong>${inWords(p95Ms)}</strong>. A bar is the median of its minute; coalescing and retries are part of it.`}</p></figcaption>
      ${bars(buckets, [['p50Ms', 'busy']], { from, to }, inWords)}</figure>
    ${
      delivered + failed === 0
        ? nothing
        : html`<details><summary>The same as a table</summary><table><thead><tr><th scope="col">Minute</th><th scope="col" class="r">Arrived</th><th scope="col" class="r">Failed</th><th scope="col" class="r">Median</th><th scope="col" class="r">19 of 20</th></tr></thead>
      <tbody>${buckets.filter((one) => one.delivered + one.failed > 0).map((one) => html`<tr><td>${clockTime(one.at)}</td><td class="r">${one.delivered}</td><td class="r">${one.failed}</td><td class="r">${inWords(one.p50Ms)}</td><td class="r">${inWords(one.p95Ms)}</td></tr>`)}</tbody></table></details>`
    }`
}

const inWords = (ms) => (ms === null ? '' : lengthOf(ms))

/** Bars over the hour, each with the values of its bucket on top of each other. The words are HTML, so they keep their size on a phone. */
function bars(buckets, fields, { from, to }, words) {
  const top = Math.max(1, ...buckets.map((one) => fields.reduce((sum, [field]) => sum + (one[field] ?? 0), 0)))
  const wide = 600 / buckets.length
  const label = `Bars of the last hour, at most ${words(top)}`
  return html`<div class="bars"><span class="dim">${words(top)}</span>
    <svg viewBox="0 0 600 100" preserveAspectRatio="none" role="img" aria-label=${label}><title>${label}</title>${buckets.flatMap(
      (one, at) => {
        let base = 100
        return fields.map(([field, tone]) => {
          const height = ((one[field] ?? 0) / top) * 98
          base -= height
          return height === 0
            ? nothing
            : svg`<rect class=${tone} x=${at * wide + wide * 0.1} y=${base} width=${wide * 0.8} height=${height}></rect>`
        })
      },
    )}</svg>
    <div class="ends dim"><span>${clockTime(from)}</span><span>${clockTime(to)}</span></div></div>`
}
