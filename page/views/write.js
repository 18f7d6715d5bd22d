import { call, pages, readable, sendMessage } from '../api.js'
import { linkTo } from '../router.js'
import { line, when } from '../show.js'
import { html, nothing, repeat } from '../vendor/lit.js'

export const title = 'Write'

export async function load() {
  const [sent, agents] = await Promise.all([
    readable(pages('/v1/messages', { limit: 20 }, 'messages', 1), []),
    readable(pages('/v1/agents', { limit: 200 }, 'agents', 2), []),
  ])
  return { sent, agents }
}

export function view({ sent, agents }, { act, may, query }) {
  const send = async (event) => {
    event.preventDefault()
    const form = event.target
    const { to, subject, text, wakePolicy, priority } = Object.fromEntries(new FormData(form))
    const kind = event.submitter?.value
    const body = { to, subject: subject || text.split('\n')[0].slice(0, 120), body: text, wakePolicy, priority }
    const change = kind === 'task' ? () => sendMessage(to, text) : () => call('POST', '/v1/messages', { body })
    const done = await act(kind === 'task' ? 'The task is sent.' : 'The mail is sent.', async () => {
      const answer = await change()
      location.hash = kind === 'task' ? linkTo('tasks', answer.id) : linkTo('threads', answer.threadId)
    })
    if (done) form.reset()
  }
  return html`${
    may('send')
      ? html`<form class="card" @submit=${send}>
      <label>To<input name="to" required list="agents" .value=${query.to ?? ''} placeholder="@donna, or * for all" autocomplete="off" spellcheck="false"></label>
      <datalist id="agents">${agents.map(({ handle }) => html`<option value=${handle}></option>`)}</datalist>
      <label>Subject (of mail)<input name="subject" maxlength="200"></label>
      <label>Text<textarea name="text" rows="6" required></textarea></label>
      <div class="row"><label>Wakes<select name="wakePolicy"><option value="immediate">at once</option><option value="next_turn">with its next turn</option><option value="silent">not at all</option></select></label>
        <label>Priority<select name="priority"><option>normal</option><option>high</option><option>low</option></select></label></div>
      <div class="row"><button class="main" name="kind" value="mail">Send as mail</button><button name="kind" value="task">Send as a task</button></div>
      <p class="dim">Mail is read and answered. A task has a state until it is done; it wakes as its agent decides.</p></form>`
      : html`<p>This key may not send.</p>`
  }
    <h2>Sent</h2>${sent.length === 0 ? html`<p class="dim">Nothing yet.</p>` : nothing}
    <ul class="plain">${repeat(
      sent,
      ({ messageId }) => messageId,
      ({ to, subject, body, threadId, recipients, createdAt }) => html`<li>
      <a href=${linkTo('threads', threadId)}>${line(subject || body || 'no subject', 80)}</a> to ${line(to ?? recipients[0]?.agent)}
      <span class="dim">${recipients[0]?.receipt ?? ''} ${when(createdAt)}</span></li>`,
    )}</ul>`
}
