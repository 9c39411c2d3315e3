-- What the words of a question were worth, for `explain`.
WITH
{words}
SELECT word, weight, frequency, idf, memory37_quoted(word)::tsquery = ANY(
    string_to_array(terms.candidates::text, ' | ')::tsquery[]) AS chooses
FROM weighed, terms
ORDER BY place
