using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

/// <summary>As much JSON as requests need: objects, arrays, strings, integers, and the words.</summary>
sealed class Json
{
    readonly string text;
    int at;

    Json(string text)
    {
        this.text = text;
    }

    /// <summary>Reads one object.</summary>
    public static Dictionary<string, object> Object(string text)
    {
        var json = new Json(text);
        var members = json.Value() as Dictionary<string, object>;
        if (json.Peek() != 0 || members == null) throw new Refusal("a request is one JSON object");
        return members;
    }

    object Value()
    {
        switch (Peek())
        {
            case '{': return Members();
            case '[': return Elements();
            case '"': return String();
            default: return Word();
        }
    }

    Dictionary<string, object> Members()
    {
        var members = new Dictionary<string, object>();
        Take('{');
        while (Peek() != '}')
        {
            string name = String();
            Take(':');
            members[name] = Value();
            if (Peek() != '}') Take(',');
        }
        Take('}');
        return members;
    }

    List<object> Elements()
    {
        var elements = new List<object>();
        Take('[');
        while (Peek() != ']')
        {
            elements.Add(Value());
            if (Peek() != ']') Take(',');
        }
        Take(']');
        return elements;
    }

    string String()
    {
        var found = new StringBuilder();
        Take('"');
        for (;;)
        {
            char c = Next();
            if (c == '"') return found.ToString();
            if (c == '\\')
            {
                c = Next();
                int known = "nrtbf".IndexOf(c);
                if (c == 'u')
                {
                    var digits = new string(new[] { Next(), Next(), Next(), Next() });
                    c = (char)int.Parse(digits, NumberStyles.HexNumber, CultureInfo.InvariantCulture);
                }
                else if (known >= 0) c = "\n\r\t\b\f"[known];
            }
            found.Append(c);
        }
    }

    /// <summary>A number, true, false or null.</summary>
    object Word()
    {
        int start = at;
        while (at < text.Length && ",]} \t\r\n".IndexOf(text[at]) < 0) at++;
        string word = text.Substring(start, at - start);
        long number;
        if (word == "true" || word == "false" || word == "null") return word;
        if (long.TryParse(word, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out number)) return number;
        throw new Refusal("`" + word + "` is no integer of 64 bits");
    }

    /// <summary>The next character that is no white space; 0 at the end.</summary>
    char Peek()
    {
        while (at < text.Length && " \t\r\n".IndexOf(text[at]) >= 0) at++;
        return at < text.Length ? text[at] : '\0';
    }

    char Next()
    {
        if (at >= text.Length) throw new Refusal("the request ends early");
        return text[at++];
    }

    void Take(char wanted)
    {
        if (Peek() != wanted) throw new Refusal("there is no " + wanted + " at character " + at);
        at++;
    }

    /// <summary>A string as JSON writes it.</summary>
    public static string Quoted(string text)
    {
        if (text == null) return "null";
        var quoted = new StringBuilder("\"");
        foreach (char c in text)
        {
            if (c == '"' || c == '\\') quoted.Append('\\').Append(c);
            else quoted.Append(c < ' ' ? ' ' : c);
        }
        return quoted.Append('"').ToString();
    }
}
