import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** As much JSON as requests need: objects, arrays, strings, integers, and the words. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Reads one object. */
    static Map<?, ?> object(String text) {
        Json json = new Json(text);
        Object value = json.value();
        if (json.peek() != 0 || !(value instanceof Map)) {
            throw new IllegalArgumentException("a request is one JSON object");
        }
        return (Map<?, ?>) value;
    }

    private Object value() {
        char c = peek();
        switch (c) {
            case '{': return members();
            case '[': return elements();
            case '"': return string();
            default: return word();
        }
    }

    private Map<String, Object> members() {
        Map<String, Object> members = new HashMap<>();
        take('{');
        while (peek() != '}') {
            String name = string();
            take(':');
            members.put(name, value());
            if (peek() != '}') {
                take(',');
            }
        }
        take('}');
        return members;
    }

    private List<Object> elements() {
        List<Object> elements = new ArrayList<>();
        take('[');
        while (peek() != ']') {
            elements.add(value());
            if (peek() != ']') {
                take(',');
            }
        }
        take(']');
        return elements;
    }

    private String string() {
        StringBuilder string = new StringBuilder();
        take('"');
        for (;;) {
            char c = next();
            if (c == '"') {
                return string.toString();
            }
            if (c == '\\') {
                c = next();
                if (c == 'u') {
                    c = (char) Integer.parseInt(text.substring(at, at + 4), 16);
                    at += 4;
                } else {
                    int known = "nrtbf".indexOf(c);
                    c = known < 0 ? c : "\n\r\t\b\f".charAt(known);
                }
            }
            string.append(c);
        }
    }

    /** A number, true, false or null. */
    private Object word() {
        int start = at;
        while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        String word = text.substring(start, at);
        if (word.equals("true") || word.equals("false") || word.equals("null")) {
            return word;
        }
        try {
            return Long.valueOf(word);
        } catch (NumberFormatException why) {
            throw new IllegalArgumentException("`" + word + "` is no integer of 64 bits");
        }
    }

    /** The next character that is no white space; 0 at the end. */
    private char peek() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return at < text.length() ? text.charAt(at) : 0;
    }

    private char next() {
        if (at >= text.length()) {
            throw new IllegalArgumentException("the request ends early");
        }
        return text.charAt(at++);
    }

    private void take(char wanted) {
        if (peek() != wanted) {
            throw new IllegalArgumentException("there is no " + wanted + " at character " + at);
        }
        at++;
    }

    /** A string as JSON writes it. */
    static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(' ');
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
