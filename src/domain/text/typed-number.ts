/** Numbers as people type them. */

/** `5000`, `5,000`, `2.50` and `2,50`: a comma before three digits separates thousands, any other one the fraction. Null for anything else. */
export function typedNumber(text: string): number | null {
  if (/^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(text)) return Number(text.replaceAll(',', ''));
  return /^\d+(?:[.,]\d+)?$/.test(text) ? Number(text.replace(',', '.')) : null;
}
