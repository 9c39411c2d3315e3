-- What the words of a question were worth, for `explain`.
WITH
{words}
SELECT word, weight, frequency, known, idf, coalesce(terms.candidates, terms.everywhere) @> memory37_quoted(word)::tsquery AS chooses
FROM weighed, terms
ORDER BY place
