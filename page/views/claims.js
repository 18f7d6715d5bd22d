import { call, get } from '../api.js'
import { confirm } from '../dialog.js'
import { filterBy, linkTo } from '../router.js'
import { age, chip, counted, line, plain, when } from '../show.js'
import { html, nothing, repeat } from '../vendor/lit.js'
import { searchField, sifted } from './list.js'

export const title = 'Claims'

export const listens = ({ type }) => type.startsWith('claim.')
/** The work that is being handed over; null: none is. */
let handing = null

export const load = ({ query: { owner, page } }) => get('/v1/claims', { owner, limit: 100, pageToken: page })

export function view({ claims, nextPageToken }, tools) {
  const { q = '', owner, page } = tools.query
  const shown = claims.filter((one) => sifted(q, one.ref, one.owner, one.reason))
  return html`<div class="bar">${searchField(q, 'Search claims')}<span class="dim">${counted(claims.length, 'claim')}${nextPageToken ? ' on this page' : ''}</span>
      ${owner ? html`<button @click=${() => filterBy({ owner: undefined })}>Only ${line(owner, 40)} ✕</button>` : nothing}</div>
    ${
      shown.length === 0
        ? html`<p class="empty">${claims.length > 0 ? 'No claim has this.' : 'Nobody has claimed work. An agent claims a task, an issue or a path, so that no other one does the same.'}</p>`
        : html`<table class="wide"><thead><tr><th scope="col">Work</th><th scope="col">Owner</th><th scope="col" class="r">Since</th><th scope="col"><span class="hidden">Acts</span></th></tr></thead>
      <tbody>${repeat(
        shown,
        ({ ref }) => ref,
        (one) => row(one, tools),
      )}</tbody></table>`
    }
    <p class="row">${page ? html`<button @click=${() => filterBy({ page: undefined })}>Back to the first</button>` : nothing}
      ${nextPageToken ? html`<button @click=${() => filterBy({ page: nextPageToken })}>Next</button>` : nothing}</p>`
}

function row(claim, { act, may, draw }) {
  const { ref, owner, claimedAt, lastSeenAt, stale, reason } = claim
  const hand = () => {
    handing = handing === ref ? null : ref
    draw()
  }
  const name = plain(ref).slice(0, 100)
  const take = () => act(`Yours now: ${name}.`, () => call('POST', '/v1/claims', { body: { ref } }))
  const release = async () => {
    const text = `${owner} worked on it, last seen ${plain(lastSeenAt)}. The next one who claims it gets it.`
    if (await confirm({ title: `Release “${name}”?`, text, action: 'Release it', danger: true }))
      await act(`Released: ${name}.`, () => call('DELETE', '/v1/claims', { query: { ref } }))
  }
  const give = (event) => {
    event.preventDefault()
    const { to, message } = Object.fromEntries(new FormData(event.target))
    const body = { ref, to: to.trim(), ...(message.trim() === '' ? {} : { message }) }
    const after = () => {
      handing = null
    }
    act(`${to} has it now: ${name}.`, () => call('POST', '/v1/claims/handoff', { body }), { after })
  }
  return html`<tr><th scope="row">${line(ref, 200)}
      ${
        handing === ref
          ? html`<form class="fields" @submit=${give}><label>To<input name="to" required placeholder="@donna" autocomplete="off" spellcheck="false"></label>
        <label>A message with it<textarea name="message" rows="2" maxlength="64000"></textarea></label><div class="row"><button class="main">Hand it over</button><button type="button" @click=${hand}>Back</button></div></form>`
          : nothing
      }</th>
    <td>${owner.startsWith('@') && owner !== '@operator' && owner !== '@removed' ? html`<a href=${linkTo('agents', owner)}>${line(owner, 40)}</a>` : line(owner, 40)} ${stale ? html`${chip('stale', 'ask')} <small>${line(reason, 100)}</small>` : html`<small>seen ${when(lastSeenAt)}</small>`}</td>
    <td class="r">${age(claimedAt)}</td>
    <td>${may('work') ? html`<div class="row">${stale ? html`<button @click=${take}>Take over</button>` : nothing}<button @click=${hand}>Hand over…</button><button @click=${release}>Release…</button></div>` : nothing}</td></tr>`
}
