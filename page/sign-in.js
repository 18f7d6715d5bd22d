import { callerOf, exchangeCode, Refused, useProject } from './api.js'
import { choose, confirm, note } from './dialog.js'
import { currentKey, keep, keysOfOtherTabs } from './key.js'
import { takeSignInCode } from './router.js'
import { nameOf } from './shell.js'
import { say } from './show.js'
import { html, nothing } from './vendor/lit.js'

/** The reason why nobody is signed in; null: there is none. */
let refusal = null

export function refuse(reason) {
  refusal = reason
}

/** The holder of a key, in words; null: the gateway does not know it. */
async function ownerOf(key) {
  try {
    const caller = await callerOf(key)
    return `${nameOf(caller)} · ${caller.project}${caller.role ? `, ${caller.role}` : ''}`
  } catch (error) {
    if (error.status === 401) return null
    throw error
  }
}

/**
 * Keeps the key of a sign-in link, if the address is one: the code leaves the address first. Anybody can make a link of their own key and have a
 * browser open it, so where a key is kept already, here or in another tab, a person says that they want the other one. Returns whether a key was kept.
 */
export async function takeLink() {
  const link = takeSignInCode()
  if (link === undefined) return false
  try {
    const key = await exchangeCode(link.code)
    const kept = currentKey() ?? (await keysOfOtherTabs())[0]
    if (kept !== undefined && kept !== key && !(await mayReplace(kept, key))) {
      note('The link was not used. Nothing has changed.')
      return false
    }
    sessionStorage.clear()
    refusal = null
    if (link.project) useProject(link.project)
    keep(key)
    return true
  } catch (error) {
    refusal = error.message
    note(refusal, { isError: true })
    if (!(error instanceof Refused)) console.error(error)
    return false
  }
}

async function mayReplace(kept, key) {
  const [old, other] = await Promise.all([ownerOf(kept), ownerOf(key)])
  if (old === null || old === other) return true
  const text = `You are ${old}. A link wants to sign you in as ${other}: what you write and answer in this tab then goes out under that name, and its holder can read it.`
  return confirm({ title: `Sign in as ${other}?`, text, action: `Sign in as ${other}`, other: `Stay ${old}` })
}

/** Takes the key of the other tabs into this one. Where they have several, a person chooses. */
export async function takeKeyOfOtherTabs() {
  if (currentKey() !== null) return
  const keys = await keysOfOtherTabs()
  if (keys.length === 0) return
  if (keys.length === 1) return keep(keys[0])
  const owners = await Promise.all(keys.map((key) => ownerOf(key).catch(() => null)))
  const options = keys.map((key, at) => [key, owners[at]]).filter(([, owner]) => owner !== null)
  const chosen = await choose({ title: 'Your tabs have several keys. Which one is for this tab?', options })
  if (chosen !== undefined) keep(chosen)
}

/** The form of those who are not signed in. `begin` signs in with the key that is kept, and returns whether the gateway knows it. */
export function signInForm(begin) {
  const enter = async (event) => {
    event.preventDefault()
    const field = event.target.elements.key
    refusal = null
    keep(field.value.trim())
    field.value = ''
    await begin()
  }
  return html`<main class="sign-in"><h1>Rouse</h1>
    ${refusal === null ? nothing : html`<div class="failure" role="alert">${say(refusal)}</div>`}
    <form @submit=${enter}>
      <label for="key">Key of an agent or an operator</label>
      <input id="key" name="key" type="password" required autocomplete="off" spellcheck="false" placeholder="rk_…">
      <button class="main">Sign in</button>
    </form>
    <p class="dim">In a terminal, <code>rouse open</code> prints a link that signs in. The admin key is in <code>.rouse/admin.key</code>. You see what the key may see. It stays in this tab until you sign out or close it.</p></main>`
}
