package dev.millrace.knowledge.ingest;

import dev.millrace.knowledge.core.ParsedDocument;
import dev.millrace.knowledge.core.Section;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.pdfbox.Loader;
import org.apache.pdfbox.pdmodel.PDDocument;
import org.apache.pdfbox.pdmodel.encryption.InvalidPasswordException;
import org.apache.pdfbox.text.PDFTextStripper;

/** A PDF as sections, one for each page. What is only a picture of text is not read. */
final class PdfParser {

    private PdfParser() {}

    /** Whether a document begins as one. */
    static boolean isPdf(byte[] bytes) {
        return bytes.length > 5
                && bytes[0] == '%'
                && bytes[1] == 'P'
                && bytes[2] == 'D'
                && bytes[3] == 'F'
                && bytes[4] == '-';
    }

    static ParsedDocument parse(byte[] bytes, TextBudget budget) throws IngestException, IOException {
        try (PDDocument document = Loader.loadPDF(bytes)) {
            PDFTextStripper stripper = new PDFTextStripper();
            stripper.setSortByPosition(true);
            List<Section> sections = new ArrayList<>();
            for (int page = 1; page <= document.getNumberOfPages(); page++) {
                budget.go();
                stripper.setStartPage(page);
                stripper.setEndPage(page);
                List<Section.Block> paragraphs = new ArrayList<>();
                for (String paragraph : stripper.getText(document).split("\\R\\s*\\R", -1)) {
                    if (!paragraph.isBlank()) {
                        paragraphs.add(new Section.Block.Paragraph(budget.take(paragraph.strip())));
                    }
                }
                if (!paragraphs.isEmpty()) {
                    sections.add(new Section(List.of("Page " + page), paragraphs));
                }
            }
            String title = document.getDocumentInformation().getTitle();
            return new ParsedDocument(title == null || title.isBlank() ? null : title.strip(), sections);
        } catch (InvalidPasswordException e) {
            throw new IngestException("unreadable", "The PDF can only be read with its password");
        }
    }
}
