import { call } from '../api.js'
import { keepDraft, textField, textForm } from '../drafts.js'
import { exact, exactWords, line, say, short, when } from '../show.js'
import { html, keyed, nothing } from '../vendor/lit.js'

/** Approvals whose denial is being written. */
const denying = new Set()
/** Approvals whose input was in sight to its end. */
const read = new Set()

/** Selects the boxes whose end was not in sight yet. */
export const unread = '.exact:not([data-read])'

/**
 * The exact request of a harness to its person, and the answer to it. `guard` keeps an act from what has only just appeared. `isRaw`: all of it as
 * JSON, which may be denied and no more. Throws for questions that have not the shape of questions.
 */
export function approvalBody(view, { act, may, draw }, { guard, after, more = nothing, isRaw = false }) {
  const { approvalId: id, kind, state, answers, reason, inputHash, expiresAt, harness } = view
  const decide = (words, body) =>
    act(
      words,
      () => call('POST', `/v1/approvals/${encodeURIComponent(id)}/decision`, { body: { ...body, inputHash } }),
      {
        after: () => {
          denying.delete(id)
          after()
        },
      },
    )
  const isQuestion = !isRaw && kind === 'question' && view.input !== null
  return keyed(
    id,
    html`<section class="card asks" @read=${noteRead}><h3>${isQuestion ? 'It asks you' : isRaw ? 'It asks this' : inputTitle(view)}</h3>
    ${isQuestion ? nothing : isRaw ? exact(JSON.stringify(view, null, 2)) : exactInput(view)}
    ${reason ? html`<p class="dim">Why, in its own words:</p><div class="quoted">${say(reason)}</div>` : nothing}
    ${state === 'open' ? answerArea() : ending(view)}
    <p class="dim">${line(harness, 40)} may be answered at its terminal first. Nothing is decided by silence${state === 'open' ? html`: this ends ${when(expiresAt)}` : nothing}.</p></section>`,
  )

  function noteRead({ currentTarget }) {
    if (currentTarget.querySelector(unread)) return
    read.add(id)
    draw()
  }

  function answerArea() {
    if (answers.length === 0)
      return html`<p class="failure">It is too long to be approved from here. Answer it where ${line(harness, 40)} runs.</p><div class="row">${more}</div>`
    if (!may('approve'))
      return html`${isQuestion ? questionTexts(view) : nothing}<p class="failure">This key may not decide. A key that may has the name of its person: <code>rouse operator key add anna --approve</code></p><div class="row">${more}</div>`
    if (denying.has(id)) return denyForm()
    const deny = html`<button type="button" data-key="d" @click=${openDeny}>Deny… <kbd>d</kbd></button>`
    if (isRaw) return html`<div class="row">${deny}${more}</div>`
    if (isQuestion)
      return questionForm(
        view,
        (given) => decide('Your answer is sent.', { answer: 'answer', answers: given }),
        guard,
        html`${deny}${more}`,
      )
    const allow = guard(() => decide(`Allowed once: ${view.tool}.`, { answer: 'once' }))
    const isRead = read.has(id)
    return html`<div class="row"><button class="main" data-key="a" ?disabled=${!isRead} @click=${allow}>Allow once <kbd>a</kbd></button>${isRead ? nothing : html`<span>Read to the end first</span>`}${deny}${more}</div>`
  }

  function openDeny() {
    denying.add(id)
    draw()
    document.querySelector('.entry textarea')?.focus()
  }

  function denyForm() {
    const leave = () => {
      denying.delete(id)
      draw()
    }
    const send = (message) =>
      decide(`Denied: ${view.tool}.`, { answer: 'deny', ...(message.trim() === '' ? {} : { message }) })
    return textForm({
      id,
      label: 'Why not, or what to do instead (it reads this)',
      action: 'Deny it',
      max: 2_000,
      isRequired: false,
      send,
      more: html`<button type="button" @click=${leave}>Back</button>`,
    })
  }
}

const inputTitle = ({ tool, input }) =>
  commandOf(input) === undefined
    ? html`It wants to use ${line(tool, 60)} with this`
    : html`It wants to run this command`

/** The command of an input, if it is one text. */
const commandOf = (input) => (typeof input?.command === 'string' ? input.command : undefined)

function exactInput({ input, inputSize }) {
  if (input === null) return html`<p>Its input has ${inputSize.toLocaleString('en')} bytes.</p>`
  const command = commandOf(input)
  if (command === undefined) return exact(JSON.stringify(input, null, 2))
  const { command: _, ...rest } = input
  return html`${exact(command)}${Object.keys(rest).length === 0 ? nothing : html`<p class="dim">With:</p>${exact(JSON.stringify(rest, null, 2))}`}`
}

const questionTexts = ({ input }) => input.questions.map(({ question }) => say(question))

const labelMax = 1_000

/** The options of a question. Throws for a label that is no text. */
function optionsOf({ options = [] }) {
  if (!options.every(({ label }) => typeof label === 'string')) throw new TypeError('An option has no label.')
  return options
}

/** Options are radio buttons, or checkboxes where several may hold; a text of one's own goes with them. */
function questionForm({ approvalId: id, input }, send, guard, more) {
  const { questions } = input
  const submit = guard(async (form) => {
    const given = {}
    for (const [at, { question }] of questions.entries()) {
      const chosen = [...form.querySelectorAll(`[name="q${at}"]:checked`)].map(({ value }) => value)
      const own = form.elements[`own${at}`].value.trim()
      given[question] = [...chosen, ...(own === '' ? [] : [own])].join(', ')
      if (given[question] === '') return form.elements[`own${at}`].focus()
    }
    if (await send(given)) for (const at of questions.keys()) keepDraft(`${id} ${at}`, '')
  })
  const entered = (event) => {
    event.preventDefault()
    submit(event.target)
  }
  return html`<form class="answer" @submit=${entered}>${questions.map(
    (
      { question, header, multiSelect, ...asked },
      at,
    ) => html`<fieldset><legend>${header ? html`<span class="dim">${line(header, 60)}</span> ` : nothing}${line(question, 2_000)}</legend>
      ${optionsOf(asked).map((option) => optionField(option, { type: multiSelect ? 'checkbox' : 'radio', name: `q${at}` }))}
      ${textField({ id: `${id} ${at}`, label: asked.options?.length > 0 ? 'Or in your words' : 'Your answer', name: `own${at}`, rows: 1, max: 2_000, isRequired: false })}</fieldset>`,
  )}<div class="row"><button class="main" data-key="a">Send the answer <kbd>a</kbd></button>${more}</div></form>`
}

function optionField({ label, description }, { type, name }) {
  const more = description ? html` <span class="dim">${line(description, 500)}</span>` : nothing
  if (label.length > labelMax)
    return html`<p class="dim">An option of ${label.length.toLocaleString('en')} characters is too long to be chosen here.${more}</p>`
  return html`<label class="option"><input type=${type} name=${name} value=${label}>
    <span>${exactWords(label)}${more}</span></label>`
}

const endings = {
  answered: 'It was answered',
  answered_there: 'It was answered where the harness runs',
  expired: 'Its time is over: nobody answered',
  withdrawn: 'The harness has withdrawn it',
}

/** The end of an approval: by whom, and what the harness did with it. */
export function ending({ state, decision, outcome }) {
  return html`<p><strong>${endings[state] ?? state}</strong>${decision ? html`: ${{ once: 'allowed once', deny: 'denied', answer: 'answered' }[decision.answer]} by <strong>${line(decision.by, 60)}</strong> ${when(decision.at)}` : nothing}${outcome === 'late' ? ', too late for the harness' : nothing}.</p>
    ${decision?.message ? say(decision.message) : nothing}`
}

/** The origin of an approval. */
export const approvalFacts = ({ agent, harness, sessionId, cwd, mode, askedAt, expiresAt, state }) => [
  html`${line(agent, 60)} on ${line(harness, 40)}`,
  sessionId ? html`session ${short(sessionId)}` : null,
  cwd ? html`<code>${line(cwd, 200)}</code>` : null,
  mode ? html`mode ${line(mode, 40)}` : null,
  html`asked ${when(askedAt)}`,
  state === 'open' ? html`ends ${when(expiresAt)}` : null,
]
