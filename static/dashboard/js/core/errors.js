/** What the API refused, as an exception. */
export class ApiError extends Error {
  /**
   * @param {number} status the HTTP status; 0 when no answer came at all
   * @param {string} message the sentence of the API, which may begin with the name of a field
   * @param {{retryAfter?: number, cause?: unknown}} [more] seconds after which it is worth asking again; what failed
   */
  constructor(status, message, { retryAfter = 0, cause } = {}) {
    super(message, { cause });
    this.status = status;
    this.retryAfter = retryAfter;
  }

  /** The field that the sentence is about, or "". */
  get field() {
    return /^([A-Za-z_][\w.[\]]*): /.exec(this.message)?.[1] ?? "";
  }

  /** The sentence for people: without the field's name, with a capital letter. */
  get sentence() {
    const text = this.field ? this.message.slice(this.field.length + 2) : this.message;
    return text.charAt(0).toUpperCase() + text.slice(1);
  }
}

/** A page whose module did not arrive: no connection, or another release of the dashboard is served by now. */
export class LostPage extends Error {
  sentence = "A part of the dashboard did not arrive. There may be a newer one than you have open: try again to load it.";
}

/** What a failed import of a page means. */
export function lostPage(error) {
  const isLost = error instanceof TypeError && /import|module/i.test(error.message); // each browser has its own words
  throw isLost ? new LostPage(error.message, { cause: error }) : error;
}

/** Whether a failure is only that somebody left the page that was asking. */
export function isAbort(error) {
  return error?.name === "AbortError";
}
