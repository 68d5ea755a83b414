// A request whose answer is a document: parsed by the browser, its scripts dead, without text that becomes markup here.

interface Asked {
  readonly path: string
  readonly token: string | undefined
  /** Sent as JSON by POST; a GET without it. */
  readonly json?: unknown
}

interface Answer {
  readonly status: number
  readonly page: Document
}

/** `answer` is undefined where the node does not answer with a page, or the request was stopped. */
export function askForPage({ path, token, json }: Asked): {
  readonly answer: Promise<Answer | undefined>
  readonly stop: () => void
} {
  const request = new XMLHttpRequest()
  request.open(json === undefined ? 'GET' : 'POST', path)
  request.responseType = 'document'
  request.setRequestHeader('accept', 'text/html')
  if (token !== undefined) request.setRequestHeader('authorization', `Bearer ${token}`)
  if (json !== undefined) request.setRequestHeader('content-type', 'application/json')
  const answer = new Promise<Answer | undefined>((resolve) => {
    request.addEventListener('loadend', () => {
      const page = request.responseXML
      resolve(page === null ? undefined : { status: request.status, page })
    })
  })
  request.send(json === undefined ? null : JSON.stringify(json))
  return { answer, stop: () => request.abort() }
}
