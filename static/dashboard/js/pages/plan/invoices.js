/** What was paid. */

import { h } from "../../core/dom.js";
import { date, money } from "../../core/format.js";
import { badge } from "../../ui/badge.js";
import { card } from "../../ui/card.js";
import { state } from "../../ui/states.js";
import { table } from "../../ui/table.js";

/** A card with the last invoices; an amount leads to the provider's document where there is one. */
export function invoiceCard(invoices) {
  if (invoices.length === 0) {
    const text = "Each payment appears here with its document, a moment after the provider has taken it.";
    return card({ title: "Invoices" }, state({ icon: "wallet", title: "Nothing was paid yet", text, level: "h3" }));
  }
  const columns = [
    { title: "Date", main: true, cell: (one) => h("time", { datetime: one.date }, date(one.date)) },
    { title: "Plan", cell: ({ planName }) => planName },
    { title: "Amount", align: "end", cell: ({ amount, currency }) => money(amount, currency) },
    { title: "State", cell: () => badge("Paid", "good") },
    { title: "Document", align: "end", cell: documentOf },
  ];
  return card({ title: "Invoices", flush: true }, table({ caption: "Invoices", rows: invoices, columns }));
}

function documentOf({ pdfUrl, date: paidAt }) {
  if (!pdfUrl) return h("span", { class: "faint" }, "None");
  const label = `Invoice of ${date(paidAt)} as PDF`;
  return h("a", { href: pdfUrl, target: "_blank", rel: "noreferrer", "aria-label": label }, "PDF");
}
