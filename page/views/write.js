import { call, pages, readable, sendMessage } from '../api.js'
import { keepDraft, textField } from '../drafts.js'
import { linkTo } from '../router.js'
import { html } from '../vendor/lit.js'

export const title = 'Write'

export const listens = () => false
const draft = 'write'

export async function load() {
  const { items } = await readable(pages('/v1/agents', { limit: 200 }, 'agents', 2), { items: [] })
  return { agents: items }
}

export function view({ agents }, { act, may, query }) {
  if (!may('send')) return html`<p class="empty">This key may not send: it has no scope “send”.</p>`
  const send = async (event) => {
    event.preventDefault()
    const form = event.target
    if (form.ariaBusy === 'true') return
    form.ariaBusy = 'true'
    const { to, subject, text, wakePolicy, priority } = Object.fromEntries(new FormData(form))
    const isTask = event.submitter?.value === 'task'
    const body = { to, subject: subject || text.split('\n')[0].slice(0, 120), body: text, wakePolicy, priority }
    const change = isTask ? () => sendMessage(to.trim(), text) : () => call('POST', '/v1/messages', { body })
    const after = (answer) => {
      keepDraft(draft, '')
      location.hash = isTask ? linkTo('tasks', answer.id) : linkTo('threads', answer.threadId)
    }
    await act(isTask ? 'The task is sent.' : 'The mail is sent.', change, { after })
    form.ariaBusy = null
  }
  return html`<form class="card fields" @submit=${send}>
      <label>To<input name="to" required list="agents" .value=${query.to ?? ''} placeholder="@donna, or * for all" autocomplete="off" spellcheck="false"></label>
      <datalist id="agents">${agents.map(({ handle }) => html`<option value=${handle}></option>`)}</datalist>
      <label>Subject (of mail)<input name="subject" maxlength="200" autocomplete="off"></label>
      ${textField({ id: draft, label: 'Text', rows: 8 })}
      <div class="row"><label>Wakes<select name="wakePolicy"><option value="immediate">at once</option><option value="next_turn">with its next turn</option><option value="silent">not at all</option></select></label>
        <label>Priority<select name="priority"><option>normal</option><option>high</option><option>low</option></select></label></div>
      <div class="row"><button class="main" name="kind" value="mail">Send as mail</button><button name="kind" value="task">Send as a task</button></div>
      <p class="dim">Mail is read and answered. A task has a state until it is done; it wakes as its agent decides.</p></form>`
}
