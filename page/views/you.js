import { get, readable } from '../api.js'
import { endNotices, noticesOf, signOut, startNotices } from '../push.js'
import { morePages, nameOf } from '../shell.js'
import { age, line, when } from '../show.js'
import { html, nothing } from '../vendor/lit.js'

export const title = 'You'

export const listens = () => false

export async function load() {
  const push = await readable(get('/v1/push'), null)
  return { push, notices: await noticesOf(push) }
}

export function view({ push, notices }, tools) {
  const { caller, projects, changeProject, act } = tools
  const { identity, name, role, scopes, project, keyId, expiresAt } = caller
  return html`${morePages()}
    <section class="card"><p><strong>${line(nameOf(caller), 60)}</strong>${name ? html` <span class="dim">${line(identity)}</span>` : nothing} · ${line(project)}${role ? ` · ${role}` : ''}</p>
      <p class="dim">This key may ${scopes.join(', ')}. Its id: <code>${line(keyId, 80)}</code>${expiresAt ? html`, it ends ${when(expiresAt)}` : nothing}.</p>
      ${
        projects.length > 1
          ? html`<label class="inline">Project <select aria-label="Project" @change=${({ target }) => changeProject(target.value)}>
        ${projects.map((one) => html`<option ?selected=${one.project === project}>${one.project}</option>`)}</select></label>`
          : nothing
      }
      <div class="row"><button @click=${signOut}>Sign out</button><span class="dim">in every tab with this key</span></div></section>
    ${caller.kind === 'operator' && tools.may('work') ? noticesCard(push, notices, act) : nothing}`
}

const reasons = {
  off: 'This gateway sends no notifications.',
  unable:
    'This browser can receive no notifications here. It needs https, or an address of this machine; on an iPhone, put the page on the home screen first.',
  denied: 'This browser was told to show no notifications of this page. Its settings change that.',
}

function noticesCard(push, { state, own }, act) {
  const others = push?.subscriptions?.filter(({ subscriptionId }) => subscriptionId !== own?.subscriptionId) ?? []
  const start = () => act('You are notified on this device.', () => startNotices(push))
  const end = () => act('No more notifications on this device.', () => endNotices(own))
  return html`<section class="card"><h2>Notifications</h2>
    <p>When something stops work, this device says so, also while the page is closed: the subject, and no more.</p>
    ${reasons[state] ? html`<p class="dim">${reasons[state]}</p>` : nothing}
    <div class="row">${state === 'ready' ? html`<button class="main" @click=${start}>Notify me on this device</button>` : nothing}${state === 'on' ? html`<button @click=${end}>Stop notifications on this device</button>` : nothing}</div>
    ${others.length > 0 ? html`<p class="dim">Your other devices: ${others.map(({ label, createdAt }) => html`${line(label || 'a browser', 60)} (${age(createdAt)}) `)}</p>` : nothing}</section>`
}
